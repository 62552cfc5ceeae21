// Blocks add to one word without an atomic.
__global__ void count(int *sum)
{
    if (threadIdx.x == 0)
        *sum += 1; // HERE: race
}
int main()
{
    int *sum;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    count<<<4, 32>>>(sum);
    cudaDeviceSynchronize();
    cudaFree(sum);
}
