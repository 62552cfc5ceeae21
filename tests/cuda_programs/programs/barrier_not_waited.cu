// Who arrives has not waited: the others may not have written yet.
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void turn_round(float *x)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    __shared__ float part[64];
    if (threadIdx.x == 0)
        init(&all, blockDim.x);
    __syncthreads();
    part[threadIdx.x] = x[threadIdx.x];
    auto token = all.arrive();
    x[threadIdx.x] = part[63 - threadIdx.x]; // HERE: race
    all.wait(std::move(token));
}
int main()
{
    float *x;
    cudaMalloc(&x, 64 * sizeof *x), cudaMemset(x, 0, 64 * sizeof *x);
    turn_round<<<1, 64>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
