// A kernel's reference is to a variable of the host.
__global__ void scale(float *x, const float &by)
{
    x[threadIdx.x] *= by; // HERE: out of bounds
}
int main()
{
    float *x, by = 2;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMemset(x, 0, 32 * sizeof(float));
    scale<<<1, 32>>>(x, by);
    cudaDeviceSynchronize();
    cudaFree(x);
}
