// told: wrong result: mean[0]
__global__ void means(float *mean, const float *x, int rows)
{
    const int lane = threadIdx.x, row = blockIdx.x * 4 + threadIdx.y;
    float v = row < rows ? x[row * 20 + lane % 20] : 0; // some twice
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (row < rows && lane == 0)
        mean[row] = v / 20;
}
