/*
 * learn.cu - the sum of each block's elements, for a debugger: kernels/simt/README.md stops in one of its threads.
 */
#include "kernels/cuda/gpu.h"

enum { THREADS = 64 };

/* sums[gridDim.x], x[gridDim.x * THREADS]: pairs are added until one is left */
static __global__ void block_sums(float *sums, const float *x)
{
    GR_SHARED(float, part, [THREADS]);
    const int me = threadIdx.x;
    part[me] = x[blockIdx.x * THREADS + me];
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (me < distance)
            part[me] += part[me + distance];
        __syncthreads();
    }
    if (me == 0)
        sums[blockIdx.x] = part[0];
}

int main(void)
{
    static float x[3 * THREADS], sums[3];
    for (int i = 0; i < 3 * THREADS; i++)
        x[i] = (float)i;
    GR_LAUNCH(block_sums, 3, THREADS, 0, NULL, sums, x);
    return gr__simt_fault() || sums[2] != 10208;
}
