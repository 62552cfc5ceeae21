// A shuffle whose mask names lanes that are elsewhere.
// always
__global__ void k(int *y)
{
    if (threadIdx.x < 16)
        y[threadIdx.x] = __shfl_sync(0xffffffff, y[threadIdx.x], 0); // HERE: warp divergence
}
int main()
{
    int *y;
    cudaMalloc(&y, 128);
    cudaMemset(y, 0, 128);
    k<<<1, 32>>>(y);
    cudaDeviceSynchronize();
    cudaFree(y);
}
