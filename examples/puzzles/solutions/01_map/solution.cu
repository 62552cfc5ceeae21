__global__ void map(float *y, const float *x)
{
    const int i = threadIdx.x;
    y[i] = x[i] + 10;
}
