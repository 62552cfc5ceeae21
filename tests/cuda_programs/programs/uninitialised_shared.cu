// The last tile is not filled to its end.
__global__ void sums(float *y, const float *x, int n)
{
    __shared__ float tile[32];
    if (threadIdx.x < n)
        tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; i++)
        sum += tile[i]; // HERE: uninitialised
    y[threadIdx.x] = sum;
}
int main()
{
    float h[32] = {0}, *x, *y;
    cudaMalloc(&x, sizeof h), cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(y, x, 20);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
