// The launch forgets the size of the dynamic shared memory.
// always
__global__ void k(float *y)
{
    extern __shared__ float s[];
    s[threadIdx.x] = 1; // HERE: out of bounds
    y[threadIdx.x] = s[threadIdx.x];
}
int main()
{
    float *y;
    cudaMalloc(&y, 128);
    k<<<1, 32>>>(y);
    cudaDeviceSynchronize();
    cudaFree(y);
}
