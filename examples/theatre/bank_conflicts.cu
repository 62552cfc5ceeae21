/*
 * bank_conflicts.cu - rows to columns through a tile in shared memory. Rows of 32 floats put a column into one bank:
 * its 32 lanes take 32 turns. A row of 33 moves each row on by one bank.
 *
 *   gradus theatre bank_conflicts.cu --kernel "transpose<32>" --out conflicts.html
 *   gradus theatre bank_conflicts.cu --kernel "transpose<33>" --out none.html
 */
#include <stdio.h>

enum { SIDE = 64, TILE = 32, ROWS = 8 };

/* out[x][y] = in[y][x], a tile of 32 x 32 for a block of 32 x 8 threads. */
template <int PITCH> __global__ void transpose(float *out, const float *in)
{
    __shared__ float tile[TILE][PITCH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += ROWS)
        tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * SIDE + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += ROWS)
        out[(y + r) * SIDE + x] = tile[threadIdx.x][threadIdx.y + r];
}

static float in[SIDE][SIDE], out[SIDE][SIDE];

int main()
{
    const dim3 grid(SIDE / TILE, SIDE / TILE), block(TILE, ROWS);
    float *device_in, *device_out;
    int mistakes = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        in[i / SIDE][i % SIDE] = i;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof out);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    transpose<32><<<grid, block>>>(device_out, device_in);
    transpose<33><<<grid, block>>>(device_out, device_in);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            mistakes += out[j][i] != in[i][j];
    printf("%d mistakes\n", mistakes);
    cudaFree(device_in);
    cudaFree(device_out);
    return mistakes > 0;
}
