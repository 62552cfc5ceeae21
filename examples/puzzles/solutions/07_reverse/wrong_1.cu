// told: race:
__global__ void reverse(float *y, const float *x)
{
    __shared__ float tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    y[i] = tile[63 - threadIdx.x]; // no barrier
}
