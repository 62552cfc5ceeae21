// told: out of bounds
__global__ void outer(float *c, const float *a, const float *b, int n, int m)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i * m + j < n * m) // a row's end is not the matrix's
        c[i * m + j] = a[i] + b[j];
}
