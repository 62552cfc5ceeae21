enum { SIDE = 64 };

__global__ void transpose(float *b, const float *a)
{
    __shared__ float tile[32][33];
    const int x = threadIdx.x, column = blockIdx.x * 32, row = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][x] = a[(row + y) * SIDE + column + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        b[(column + y) * SIDE + row + x] = tile[x][y];
}
