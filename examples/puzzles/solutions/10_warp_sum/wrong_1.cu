// told: warp divergence
__global__ void warp_sums(float *sums, const float *x)
{
    const int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32;
    float v = x[i];
    for (int d = 16; d > 0; d /= 2)
        if (lane < d) // all lanes must come
            v += __shfl_down_sync(0xffffffff, v, d);
    if (lane == 0)
        sums[i / 32] = v;
}
