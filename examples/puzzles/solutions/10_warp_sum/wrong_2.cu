// told: wrong result: sums[0]
__global__ void warp_sums(float *sums, const float *x)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    float v = x[i];
    for (int d = 16; d > 1; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        sums[i / 32] = v;
}
