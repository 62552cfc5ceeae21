/*
 * ahead.h - memory that will be needed soon, asked for while something else is computed.
 *
 * A kernel lists what it will read next, in runs of cache lines, and says how many chances it will have to ask for
 * some. The runs are spread over the chances, as many at each until there are no more: all at once would wait for the
 * fill buffers of the core, and a number that changed from chance to chance would be guessed wrong.
 */
#ifndef GRADUS_CPU_AHEAD_H
#define GRADUS_CPU_AHEAD_H

#include "kernels/cpu/cpu.h"

enum { RUN = 4 /* cache lines */, LINE = 64 / sizeof(float) /* floats */, RUNS = 2048 };

typedef struct {
    const float *runs[RUNS];
    int64_t n, at, at_once; /* runs: listed, asked for, to be asked for at a chance */
} ahead;

/* Nothing is wanted yet. */
INLINE void ahead_clear(ahead *h)
{
    h->n = h->at = h->at_once = 0;
}

/* Some floats of each row, or none; what finds no room is left to the processor. */
INLINE void ahead_add(ahead *h, const float *p, int64_t rows, int64_t floats, int64_t pitch)
{
    const int64_t runs = ceil_div(floats, RUN * LINE), fit = runs ? min64(rows, (RUNS - h->n) / runs) : 0;
    for (int64_t row = 0; row < fit; row++, p += pitch)
        for (int64_t run = 0; run < runs; run++)
            h->runs[h->n++] = p + run * RUN * LINE;
}

/* Bytes of memory one after the other; 0: nothing is wanted of it. */
typedef struct {
    const void *at;
    int64_t bytes;
} memory_run;

INLINE void ahead_add_run(ahead *h, memory_run run)
{
    ahead_add(h, run.at, 1, run.bytes / (int64_t)sizeof(float), 0);
}

INLINE void ahead_begin(ahead *h, int64_t chances)
{
    h->at_once = chances > 0 ? ceil_div(h->n, chances) : 0;
}

/* A chance. */
INLINE void ahead_ask(ahead *h)
{
    const int64_t end = min64(h->n, h->at + h->at_once);
    for (; h->at < end; h->at++) {
        UNROLL
        for (int line = 0; line < RUN; line++)
            prefetch_second(h->runs[h->at] + line * LINE);
    }
}

#endif
