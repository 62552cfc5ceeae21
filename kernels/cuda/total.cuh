/*
 * total.cuh - one number from many blocks. Each block adds its threads' sums and leaves the result in partial[block];
 * the last one to come adds those. How the work is cut depends on its size alone, not on the device.
 *
 * Order     a thread adds its own terms one after the other, a block its threads in a tree, the last block the partial
 *           sums likewise: with a thousand blocks the rounding error grows as slowly as a thread's share of the terms.
 */
#ifndef GRADUS_TOTAL_CUH
#define GRADUS_TOTAL_CUH

#include "kernels/cuda/arrival.cuh"
#include "kernels/cuda/reduce.cuh"

enum { TOTAL_THREADS = 256, TOTAL_BLOCKS = 1024 /* at most */ };

/* Blocks of a launch, for pieces of work of which a block takes at least per_block. */
static inline unsigned total_blocks(int64_t pieces, int64_t per_block)
{
    const int64_t blocks = (pieces + per_block - 1) / per_block;
    return (unsigned)(blocks < TOTAL_BLOCKS ? blocks : (int64_t)TOTAL_BLOCKS);
}

/* Bytes of partial[]. */
static inline size_t total_bytes(unsigned blocks)
{
    return blocks * sizeof(float);
}

/* Where a total goes, and by way of what. */
typedef struct {
    float *result, *partial; /* [1], [blocks] */
    unsigned *arrivals;      /* one of gr_exec's */
} total;

/* A call's, of which scratch is nothing but partial. */
static inline total total_of(const gr_call *call)
{
    return {gr__f32(call->out[0]), (float *)call->exec->scratch, call->exec->arrivals};
}

/* Ends a launch: result = factor times the sum of v over all threads, or the square root of that. All must come. */
GR_DEVICE void total_finish(const total *to, float v, float factor, bool root)
{
    v = block_sum(v);
    if (threadIdx.x == 0)
        to->partial[blockIdx.x] = v;
    if (!last_to_come(to->arrivals, gridDim.x))
        return;
    float sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        sum += to->partial[b];
    sum = factor * block_sum(sum);
    if (threadIdx.x == 0)
        to->result[0] = root ? sqrtf(sum) : sum;
}

#endif
