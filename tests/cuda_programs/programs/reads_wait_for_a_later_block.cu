// The first block reads a flag until the second has set it, which begins when the first has ended.
__global__ void k(volatile int *flag)
{
    if (blockIdx.x == 1)
        *flag = 1;
    else
        while (*flag == 0) // HERE: deadlock: an endless wait
            __nanosleep(100);
}
int main()
{
    int *flag;
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    k<<<2, 64>>>(flag);
    cudaDeviceSynchronize();
    cudaFree(flag);
}
