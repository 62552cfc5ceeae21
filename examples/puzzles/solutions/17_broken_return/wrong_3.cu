// told: wrong way
__global__ void reverse(float *y, const float *x, int n)
{
    const int first = blockIdx.x * 64, i = first + threadIdx.x, have = n - first < 64 ? n - first : 64;
    if (i < n)
        y[i] = x[first + have - 1 - threadIdx.x];
}
