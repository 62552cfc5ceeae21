// The kernel comes after the cudaFree.
__global__ void scale(float *x)
{
    x[threadIdx.x] = 2; // HERE: out of bounds
}
int main()
{
    float *x;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaFree(x);
    scale<<<1, 32>>>(x);
    cudaDeviceSynchronize();
}
