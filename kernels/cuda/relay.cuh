/*
 * relay.cuh - one launch in two legs: blocks of the second wait for what those of the first leave in memory, as if they
 * were a launch of their own, but begin while the first still runs.
 *
 * A GPU starts blocks in whatever order it likes, and has room for some. So a block's number is not blockIdx but its
 * turn: how many blocks had begun before. The first leg's numbers come first; when one of the second has begun, all of
 * the first have, and they wait for nobody: they end, and so does every wait.
 *
 * Two words of gr_exec.arrivals count what has begun and what is ready or has gone on; both are 0 before and afterwards
 * (arrival.cuh). Which block has which number is chance; what a number does must not depend on that.
 *
 * Order     as in arrival.cuh: barrier and fence before the count of what is ready, fence and barrier behind the wait.
 */
#ifndef GRADUS_RELAY_CUH
#define GRADUS_RELAY_CUH

#include "kernels/cuda/arrival.cuh"

enum { RELAY_BEGUN = GR_ARRIVALS - 1, RELAY_READY = GR_ARRIVALS - 2 /* words */ };

typedef struct {
    unsigned *words;        /* gr_exec.arrivals */
    unsigned first, second; /* blocks of each leg; where there are none of one, nobody is counted */
    unsigned parts;         /* how many things the first leg makes ready */
} relay;

/* This block's number: below r->first in the first leg. All of its threads must come, once. */
GR_DEVICE unsigned relay_begin(const relay *r)
{
    GR_SHARED(unsigned, number, [1]);
    if (r->first == 0 || r->second == 0)
        return blockIdx.x;
    if (threadIdx.x == 0)
        number[0] = atomicInc(r->words + RELAY_BEGUN, r->first + r->second - 1);
    __syncthreads();
    return number[0];
}

/* One of the parts is ready: what this block's threads have written of it. All of them must come. */
GR_DEVICE void relay_ready(const relay *r)
{
    __syncthreads();
    if (threadIdx.x == 0 && r->second > 0) {
        __threadfence();
        atomicInc(r->words + RELAY_READY, r->parts + r->second - 1);
    }
}

/* Waits until all parts are ready. By a block of the second leg; all of its threads must come, once. */
GR_DEVICE void relay_wait(const relay *r)
{
    if (threadIdx.x == 0 && r->first > 0) {
        unsigned *ready = r->words + RELAY_READY;
        while (atomicAdd(ready, 0) < r->parts)
            continue;
        __threadfence();
        atomicInc(ready, r->parts + r->second - 1); /* the last to go on brings it back to 0 */
    }
    __syncthreads();
}

#endif
