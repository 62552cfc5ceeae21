// told: out of bounds
__global__ void add(float *z, const float *x, const float *y, int n)
{
    z[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}
