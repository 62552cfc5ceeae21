// The last thread reads one float behind the end, by a function of CUDA's: the line is that of the call.
__global__ void differences(float *y, const float *x)
{
    const int i = threadIdx.x;
    y[i] = __ldg(x + i + 1) - __ldg(x + i); // HERE: out of bounds
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMemset(x, 0, 64 * sizeof(float));
    differences<<<1, 64>>>(y, x);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
