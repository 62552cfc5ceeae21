// The host fills pinned memory anew while a copy in a stream may still read it.
int main()
{
    int *pinned, *x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&pinned, 32 * sizeof(int)), cudaMalloc(&x, 64 * sizeof(int));
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 32; i++)
            pinned[i] = 32 * turn + i; // HERE: host race
        cudaMemcpyAsync(x + 32 * turn, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
    cudaFreeHost(pinned), cudaFree(x), cudaStreamDestroy(stream);
}
