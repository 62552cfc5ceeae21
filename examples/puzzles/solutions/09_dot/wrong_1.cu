// told: over budget
__global__ void dot(float *sum, const float *x, const float *y, int n)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i] * y[i]);
}
