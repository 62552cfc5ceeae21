// told: race:
__global__ void reverse(float *y, const float *x, int n)
{
    __shared__ float tile[64];
    const int first = blockIdx.x * 64, i = first + threadIdx.x, have = n - first < 64 ? n - first : 64;
    if (i >= n)
        return;
    tile[threadIdx.x] = x[i];
    y[i] = tile[have - 1 - threadIdx.x];
}
