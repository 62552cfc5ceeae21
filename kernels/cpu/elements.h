/*
 * elements.h - how a pass over a slab is cut: chunks of elements for the threads, vectors within a chunk.
 */
#ifndef GRADUS_CPU_ELEMENTS_H
#define GRADUS_CPU_ELEMENTS_H

#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 }; /* elements */

/*
 * Calls f(job, i, n) for the elements i..i+n-1 of chunk number chunk of count elements: whole vectors, then what is
 * left. f is an INLINE function: where n is VL the compiler sees it.
 */
INLINE void each_vector(void (*f)(const void *job, int64_t i, int64_t n), const void *job, int64_t count, int64_t chunk)
{
    const int64_t end = min64(count, (chunk + 1) * CHUNK);
    int64_t i = chunk * CHUNK;
    for (; i + VL <= end; i += VL)
        f(job, i, VL);
    if (i < end)
        f(job, i, end - i);
}

#endif
