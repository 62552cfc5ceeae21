// told: race:
__global__ void dot(float *sum, const float *x, const float *y, int n)
{
    __shared__ float part[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[t] = i < n ? x[i] * y[i] : 0;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2)
        if (t < d)
            part[t] += part[t + d]; // no barrier between the steps
    if (t == 0)
        atomicAdd(sum, part[0]);
}
