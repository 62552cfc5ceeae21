// told: over budget
__global__ void find_largest(int *largest, const int *x, int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        atomicMax(largest, x[i]);
    if (i < n)
        atomicMax(largest, x[i]);
}
