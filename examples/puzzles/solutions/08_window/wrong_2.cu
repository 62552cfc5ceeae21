// told: barrier divergence
__global__ void window(float *y, const float *x, int n)
{
    __shared__ float tile[66];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n)
        return; // and the barrier?
    tile[t + 1] = x[i];
    if (t == 0)
        tile[0] = i > 0 ? x[i - 1] : 0;
    if (t == 63 || i + 1 == n)
        tile[t + 2] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
