// What malloc gives in a kernel is device memory of so many bytes, until the kernel frees it.
__global__ void k(int *y)
{
    int *mine = (int *)malloc(4 * sizeof(int));
    for (int i = 0; i <= 4; i++)
        mine[i] = i; // HERE: out of bounds: write of 4 bytes on memory from malloc or new in a kernel + 16 bytes
    y[threadIdx.x] = mine[threadIdx.x % 4];
    free(mine);
}
int main()
{
    int *y;
    cudaMalloc(&y, 32 * sizeof(int));
    k<<<1, 32>>>(y);
    cudaDeviceSynchronize();
    cudaFree(y);
}
