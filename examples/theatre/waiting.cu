/*
 * waiting.cu - a sum of numbers by 8 warps, of which each takes two more turns than the one before: all of them wait
 * for the last. Warp 2 reads a column, a sector for each lane.
 *
 *   gradus theatre waiting.cu --out waiting.html
 */
#include <stdio.h>

enum { WARPS = 8, COUNT = 1024 };

__global__ void uneven(float *sum, const float *x)
{
    __shared__ float part[WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, stride = warp == 2 ? 32 : 1;
    float mine = 0;
    for (int i = 0; i < 2 * warp + 1; i++)
        mine += x[(32 * i + lane * stride) % COUNT];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_down_sync(0xFFFFFFFF, mine, distance);
    if (lane == 0)
        part[warp] = mine;
    __syncthreads();
    if (threadIdx.x < WARPS)
        atomicAdd(sum, part[threadIdx.x]);
}

int main()
{
    static float x[COUNT];
    float *device_x, *device_sum, sum;
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    cudaMalloc(&device_x, sizeof x);
    cudaMalloc(&device_sum, sizeof sum);
    cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemset(device_sum, 0, sizeof sum);
    uneven<<<1, 32 * WARPS>>>(device_sum, device_x);
    cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%g\n", sum);
    cudaFree(device_x);
    cudaFree(device_sum);
    return sum != 32 * WARPS * WARPS;
}
