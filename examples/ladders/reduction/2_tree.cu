/*
 * 2_tree.cu - a block adds up its numbers in shared memory first.
 *
 * Changed   256 numbers become 128, 64, ... 1 in shared memory: in each round a thread adds to the number at a place
 *           the one s further, s = 1, 2, 4, ... A block writes one number, and a second launch adds those up. No
 *           atomics, so the order is always the same, and so are the bits.
 * Faster    because blocks work side by side, and one number goes to global memory for 256 that came.
 * Slow      still, because the places are 2s apart: in the fifth round 32 lanes would want one bank, and the 8 that are
 *           left take 8 turns.
 * Counted   barriers 2313; shared requests 11565, conflicts 2.33 each; global requests 2313, sectors 8481; lanes 23.7
 */
#include "reduction.h"

static const int THREADS = 256;

/* part[block] = the sum of the block's numbers of x[n] */
__global__ void tree(float *part, const float *x, int n)
{
    __shared__ float sum[THREADS];
    const int me = threadIdx.x, i = blockIdx.x * THREADS + me;
    sum[me] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = 1; s < THREADS; s *= 2) {
        const int at = 2 * s * me;
        if (at < THREADS)
            sum[at] += sum[at + s];
        __syncthreads();
    }
    if (me == 0)
        part[blockIdx.x] = sum[0];
}

static void reduce(float *total, const float *x, int n, float *part)
{
    const int blocks = (n + THREADS - 1) / THREADS;
    if (blocks == 1) {
        tree<<<1, THREADS>>>(total, x, n);
        return;
    }
    tree<<<blocks, THREADS>>>(part, x, n);
    float *next = part + blocks; /* the parts' parts lie behind them */
    reduce(total, part, blocks, next);
}
