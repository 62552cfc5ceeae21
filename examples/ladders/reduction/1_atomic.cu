/*
 * 1_atomic.cu - every thread adds its number to the total.
 *
 * Idea      a sum needs no order, so let every thread add its number when it comes: atomicAdd reads, adds and writes
 *           without anybody between.
 * Slow      because all adds are to one address, one after another, as many as there are numbers.
 * Price     floats are rounded, so another order is another sum: two runs may differ in the last bits.
 * Counted   barriers 0; shared requests 0, conflicts 0.00 each; global requests 4096, sectors 10240; lanes 32.0
 */
#include "reduction.h"

static const int THREADS = 256;

__global__ void atomic(float *total, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}

static void reduce(float *total, const float *x, int n, float *)
{
    cudaMemset(total, 0, sizeof *total);
    atomic<<<(n + THREADS - 1) / THREADS, THREADS>>>(total, x, n);
}
