// told: race:
__global__ void sums(float *out, const float *x)
{
    __shared__ float part[256];
    const int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    for (int d = 128; d > 0; d /= 2) {
        if (t < d)
            part[t] += part[t + d];
        __syncthreads(); // and before the first step?
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
