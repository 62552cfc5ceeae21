// Two streams write one buffer, and no event orders them.
__global__ void fill(int *x, int v)
{
    x[threadIdx.x] = v; // HERE: race
}
int main()
{
    int *x;
    cudaStream_t a, b;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaStreamCreate(&a), cudaStreamCreate(&b);
    fill<<<1, 32, 0, a>>>(x, 1);
    fill<<<1, 32, 0, b>>>(x, 2);
    cudaDeviceSynchronize();
    cudaFree(x);
}
