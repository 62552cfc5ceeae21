// told: over budget
__global__ void square(float *y, const float *x, int n)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x, each = (n + 127) / 128;
    for (int i = me * each; i < (me + 1) * each && i < n; i++)
        y[i] = x[i] * x[i];
}
