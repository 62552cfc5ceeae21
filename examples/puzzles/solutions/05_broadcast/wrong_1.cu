// told: over budget
__global__ void outer(float *c, const float *a, const float *b, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m)
        c[i * m + j] = a[i] + b[j];
}
