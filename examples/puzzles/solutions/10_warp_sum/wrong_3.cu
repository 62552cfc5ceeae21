// told: over budget
__global__ void warp_sums(float *sums, const float *x)
{
    __shared__ float all[128];
    const int t = threadIdx.x;
    all[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    if (t % 32 == 0) {
        float v = 0;
        for (int i = 0; i < 32; i++)
            v += all[t + i];
        sums[(blockIdx.x * 128 + t) / 32] = v;
    }
}
