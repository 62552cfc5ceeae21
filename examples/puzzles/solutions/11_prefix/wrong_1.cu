// told: race:
__global__ void prefix(float *y, const float *x)
{
    __shared__ float s[128];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        if (t >= d)
            s[t] += s[t - d]; // reads and writes mix
        __syncthreads();
    }
    y[t] = s[t];
}
