// told: wrong way
__global__ void reverse(float *y, const float *x)
{
    y[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + 63 - threadIdx.x];
}
