// Threads that leave early do not come to the barrier. Found without --check, too.
// always
__global__ void sums(int *x, int n)
{
    if (threadIdx.x >= n)
        return;
    __syncthreads(); // HERE: barrier divergence
    x[threadIdx.x] = 1;
}
int main()
{
    int *x;
    cudaMalloc(&x, 32 * sizeof(int));
    sums<<<1, 32>>>(x, 20);
    cudaDeviceSynchronize();
    cudaFree(x);
}
