// told: race:
__global__ void find_largest(int *largest, const int *x, int n)
{
    __shared__ int part[64];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    part[t] = i < n ? x[i] : -1;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d && part[t + d] > part[t])
            part[t] = part[t + d];
        __syncthreads();
    }
    if (t == 0 && part[0] > *largest)
        atomicExch(largest, part[0]); // the comparison is not atomic
}
