// told: over budget
enum { SIDE = 64, TILE = 16 };

__global__ void matmul(float *c, const float *a, const float *b)
{
    const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < SIDE; k++)
        sum += a[row * SIDE + k] * b[k * SIDE + column];
    c[row * SIDE + column] = sum;
}
