/*
 * total.cuh - one number from many blocks, in two launches. In the first, each block adds its threads' sums and leaves
 * the result in partial[block]; in the second, one block adds those. How the work is cut depends on its size alone, not
 * on the device.
 *
 * Order     a thread adds its own terms one after the other, a block its threads in a tree, the second launch likewise:
 *           with a thousand blocks the rounding error grows as slowly as a thread's share of the terms.
 */
#ifndef GRADUS_TOTAL_CUH
#define GRADUS_TOTAL_CUH

#include "kernels/cuda/reduce.cuh"

enum { TOTAL_THREADS = 256, TOTAL_BLOCKS = 1024 /* at most */ };

/* Blocks of the first launch, for pieces of work of which a block takes at least per_block. */
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

/* Ends the first launch: the sum of v over the block's threads, all of which must come. */
GR_DEVICE void total_leave(float *partial, float v)
{
    v = block_sum(v);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v;
}

/* The second launch, <<<1, TOTAL_THREADS>>>: result = factor sum_b partial[b], or the square root of that. */
static __global__ void total_finish(float *result, const float *partial, unsigned blocks, float factor, bool root)
{
    float sum = 0;
    for (unsigned b = threadIdx.x; b < blocks; b += blockDim.x)
        sum += partial[b];
    sum = factor * block_sum(sum);
    if (threadIdx.x == 0)
        result[0] = root ? sqrtf(sum) : sum;
}

#endif
