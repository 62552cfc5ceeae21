// The host reads pinned memory that a copy in a stream may not have come to.
__global__ void square(int *x)
{
    x[threadIdx.x] *= x[threadIdx.x];
}
int main()
{
    int *pinned, *x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&pinned, 32 * sizeof(int)), cudaMalloc(&x, 32 * sizeof(int));
    for (int i = 0; i < 32; i++)
        pinned[i] = i;
    cudaMemcpyAsync(x, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
    square<<<1, 32, 0, stream>>>(x);
    cudaMemcpyAsync(pinned, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    const int early = pinned[3]; // HERE: host race
    cudaStreamSynchronize(stream);
    printf("%d\n", pinned[3]);
    cudaFreeHost(pinned), cudaFree(x), cudaStreamDestroy(stream);
    return early == 9;
}
