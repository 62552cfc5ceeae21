// told: over budget
__global__ void window(float *y, const float *x, int n)
{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = (i ? x[i - 1] : 0) + x[i] + (i + 1 < n ? x[i + 1] : 0);
}
