// told: race:
__global__ void histogram(int *bins, const unsigned char *x, int n)
{
    __shared__ int mine[8];
    if (threadIdx.x < 8)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine[x[i]]++; // no atomic
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
