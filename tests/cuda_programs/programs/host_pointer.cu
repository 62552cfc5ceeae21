// A kernel is given the host's memory.
__global__ void scale(float *x)
{
    x[threadIdx.x] *= 2; // HERE: out of bounds
}
int main()
{
    float *x = (float *)malloc(32 * sizeof(float));
    memset(x, 0, 32 * sizeof(float));
    cudaFree(0);
    scale<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    free(x);
}
