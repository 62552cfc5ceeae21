// told: wrong result: c[
__global__ void outer(float *c, const float *a, const float *b, int n, int m)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m)
        c[i * m + j] = a[i] * b[j];
}
