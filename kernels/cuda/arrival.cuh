/*
 * arrival.cuh - which of several blocks of a launch is the last to come: it finds what all of them have left in memory.
 *
 * Each counts itself in a word of gr_exec.arrivals, which is 0 before and afterwards: the count of the last one wraps,
 * so that nobody must clear it, and a launch that is repeated in a graph finds it as the first one did. Which block is
 * the last is chance; what it makes of what was left must not depend on that.
 *
 * Order     what threads of a block wrote came before thread 0's fence by their barrier, and before its count by the
 *           fence; the fence behind the last count, and the barrier behind that, put what is read after them later.
 */
#ifndef GRADUS_ARRIVAL_CUH
#define GRADUS_ARRIVAL_CUH

#include "kernels/cuda/gpu.h"

/* Whether this block is the last of so many that come to the word. All of its threads must come, once. */
GR_DEVICE bool last_to_come(unsigned *word, unsigned blocks)
{
    GR_SHARED(bool, last, [1]);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last[0] = atomicInc(word, blocks - 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return last[0];
}

#endif
