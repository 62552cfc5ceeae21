// Nobody set the sum to 0.
__global__ void add(int *sum)
{
    atomicAdd(sum, 1); // HERE: uninitialised
}
int main()
{
    int *sum;
    cudaMalloc(&sum, sizeof(int));
    add<<<1, 32>>>(sum);
    cudaDeviceSynchronize();
    cudaFree(sum);
}
