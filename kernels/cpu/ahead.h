/*
 * ahead.h - memory that will be needed soon, asked for while something else is computed.
 *
 * A kernel lists what its next block will read, in runs of cache lines, and says how many chances it will have to ask
 * for some. The runs are spread evenly over the chances: more at a time than a core has fill buffers would hold it up.
 * At a chance where there is nothing new the last run is asked for again, which costs less than a branch.
 */
#ifndef GRADUS_CPU_AHEAD_H
#define GRADUS_CPU_AHEAD_H

#include "kernels/cpu/cpu.h"

enum { RUN = 4 /* cache lines */, LINE = 64 / sizeof(float) /* floats */, RUNS = 2048 };

typedef struct {
    const float *runs[RUNS];
    int64_t n;
    uint64_t at, step; /* runs, in 32.32 fixed point */
} ahead;

/* Nothing is wanted yet; idle: any address of the program's. */
INLINE void ahead_clear(ahead *h, const float *idle)
{
    h->runs[0] = idle;
    h->n = 0;
    h->at = h->step = 0;
}

/* Some floats of each row; what finds no room is left to the processor. */
INLINE void ahead_add(ahead *h, const float *p, int64_t rows, int64_t floats, int64_t pitch)
{
    const int64_t runs = ceil_div(floats, RUN * LINE), fit = min64(rows, (RUNS - h->n) / runs);
    for (int64_t row = 0; row < fit; row++, p += pitch)
        for (int64_t run = 0; run < runs; run++)
            h->runs[h->n++] = p + run * RUN * LINE;
}

INLINE void ahead_begin(ahead *h, int64_t chances)
{
    h->step = chances > 0 ? ((uint64_t)h->n << 32) / (uint64_t)chances : 0;
}

INLINE const float *ahead_next(ahead *h)
{
    const float *run = h->runs[h->at >> 32];
    h->at += h->step;
    return run;
}

#endif
