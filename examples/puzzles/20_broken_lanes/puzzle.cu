// Puzzle 20: Broken: lanes that are not there. Task: README.md; test: gradus puzzle 20
__global__ void means(float *mean, const float *x, int rows)
{
    const int lane = threadIdx.x, row = blockIdx.x * 4 + threadIdx.y;
    if (row < rows && lane < 20) {
        float v = x[row * 20 + lane];
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d);
        if (lane == 0)
            mean[row] = v / 20;
    }
}
