// told: over budget
__global__ void sums(float *out, const float *x)
{
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < 256; i++)
            sum += x[blockIdx.x * 256 + i];
        out[blockIdx.x] = sum;
    }
}
