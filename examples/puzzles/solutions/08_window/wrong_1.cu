// told: uninitialised
__global__ void window(float *y, const float *x, int n)
{
    __shared__ float tile[66];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = i < n ? x[i] : 0; // and the rim?
    __syncthreads();
    if (i < n)
        y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
