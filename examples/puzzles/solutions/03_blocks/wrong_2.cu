// told: out of bounds
__global__ void twice(float *y, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
