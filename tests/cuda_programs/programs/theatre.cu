// Kernels of which test_theatre.py knows each request. </script><script>alert("no text ends its script")</script>
#include <stdio.h>

__global__ void four_ways(float *y, const float *x)
{
    __shared__ float tile[128];
    tile[4 * threadIdx.x] = x[8 * threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16)
        y[threadIdx.x] = tile[4 * threadIdx.x];
}

// Warp w reads w + 1 times: warp 0 waits longest. N: so that there is a name with <>.
template <int N> __global__ void uneven(float *sum, const float *x)
{
    __shared__ float part[4];
    const int thread = threadIdx.x + blockDim.x * threadIdx.y, warp = thread / 32, lane = thread % 32;
    float mine = 0;
    for (int i = 0; i <= warp; i++)
        mine += x[N * (32 * i + lane)];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_down_sync(0xFFFFFFFF, mine, distance);
    if (lane == 0)
        part[warp] = mine;
    __syncthreads();
    if (thread < 4)
        atomicAdd(sum + blockIdx.y, part[thread]);
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    cudaMemset(x, 0, 4096);
    cudaMemset(y, 0, 4096);
    four_ways<<<1, 32>>>(y, x);
    uneven<1><<<dim3(1, 2), 128>>>(y, x);
    uneven<2><<<dim3(1, 2), dim3(64, 2)>>>(y, x);
    cudaFree(x);
    cudaFree(y);
    puts("done");
}
