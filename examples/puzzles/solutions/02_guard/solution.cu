__global__ void add(float *z, const float *x, const float *y, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}
