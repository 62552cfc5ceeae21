// told: race: write after write
__global__ void square(float *y, const float *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) // over the next block's
        y[i] = x[i] * x[i];
}
