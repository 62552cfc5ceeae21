// The host reads managed memory while the kernel that writes it may be under way.
__global__ void square(int *y, const int *x)
{
    y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
}
int main()
{
    int *x, *y, sum = 0;
    cudaMallocManaged(&x, 32 * sizeof(int));
    cudaMallocManaged(&y, 32 * sizeof(int));
    for (int i = 0; i < 32; i++)
        x[i] = i;
    square<<<1, 32>>>(y, x);
    for (int i = 0; i < 32; i++)
        sum += y[i]; // HERE: host race
    cudaFree(x), cudaFree(y);
    return sum == 10416 ? 0 : 1;
}
