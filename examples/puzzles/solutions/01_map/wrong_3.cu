// told: out of bounds
__global__ void map(float *y, const float *x)
{
    y[threadIdx.x + 1] = x[threadIdx.x] + 10;
}
