// told: wrong result: y[
__global__ void twice(float *y, const float *x, int n)
{
    const int i = threadIdx.x * blockDim.x + blockIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
