// The host fills memory for the next launch while the last one may still read it.
__global__ void add(int *sum, const int *x)
{
    atomicAdd(sum, x[threadIdx.x]);
}
int main()
{
    int *x, *sum;
    cudaMallocHost(&x, 32 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 32; i++)
            x[i] = i + turn; // HERE: host race
        add<<<1, 32>>>(sum, x);
    }
    cudaDeviceSynchronize();
    cudaFreeHost(x), cudaFree(sum);
}
