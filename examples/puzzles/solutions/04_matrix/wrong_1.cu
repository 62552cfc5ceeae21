// told: out of bounds
__global__ void add_one(float *b, const float *a, int rows, int columns)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < columns)
        b[r * columns + c] = a[r * columns + c] + 1;
}
