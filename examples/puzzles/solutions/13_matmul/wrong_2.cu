// told: race:
enum { SIDE = 64, TILE = 16 };

__global__ void matmul(float *c, const float *a, const float *b)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k = 0; k < SIDE; k += TILE) {
        as[y][x] = a[row * SIDE + k + x];
        bs[y][x] = b[(k + y) * SIDE + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += as[y][i] * bs[i][x];
    } // who is fast overwrites what others still read
    c[row * SIDE + column] = sum;
}
