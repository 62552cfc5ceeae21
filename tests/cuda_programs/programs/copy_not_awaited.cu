// The block waits for its threads, not for what they have copied.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void turn_round(float *y, const float *x)
{
    __shared__ float tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, sizeof tile);
    block.sync();
    y[threadIdx.x] = tile[63 - threadIdx.x]; // HERE: missing wait
}
int main()
{
    float h[64] = {0}, *x, *y;
    cudaMalloc(&x, sizeof h), cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    turn_round<<<1, 64>>>(y, x);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
