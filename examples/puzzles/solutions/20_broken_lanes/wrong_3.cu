// told: over budget
__global__ void means(float *mean, const float *x, int rows)
{
    const int row = blockIdx.x * 4 + threadIdx.y;
    if (row < rows && threadIdx.x == 0) {
        float v = 0;
        for (int i = 0; i < 20; i++)
            v += x[row * 20 + i];
        mean[row] = v / 20;
    }
}
