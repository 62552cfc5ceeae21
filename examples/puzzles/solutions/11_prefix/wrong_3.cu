// told: wrong result: y[
__global__ void prefix(float *y, const float *x)
{
    __shared__ float s[128];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) { // one step is missing
        const float v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    y[t] = s[t];
}
