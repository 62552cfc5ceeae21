// told: wrong result: z[49]
__global__ void add(float *z, const float *x, const float *y, int n)
{
    const int i = threadIdx.x;
    if (i < n - 1)
        z[i] = x[i] + y[i];
}
