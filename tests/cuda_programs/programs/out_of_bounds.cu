// One element too far.
__global__ void scale(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        x[i] = 2; // HERE: out of bounds
}
int main()
{
    float *x;
    cudaMalloc(&x, 100 * sizeof(float));
    scale<<<1, 128>>>(x, 100);
    cudaDeviceSynchronize();
    cudaFree(x);
}
