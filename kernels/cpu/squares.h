/*
 * squares.h - the sum of the squares of x[count], for norms: chunks of fixed size on all threads, then their sums in
 * order.
 *
 * A chunk adds up in floats, over SQUARES_SUMS vectors so that additions need not wait for one another: an element goes
 * through a few hundred of them. Chunks are added in double.
 */
#ifndef GRADUS_CPU_SQUARES_H
#define GRADUS_CPU_SQUARES_H

#include "kernels/cpu/cpu.h"

enum { SQUARES_CHUNK = 16384 /* elements */, SQUARES_SUMS = 4 };

typedef struct {
    const float *x; /* [count] */
    int64_t count;
    double *partial; /* [squares_chunks(count)] */
} squares_job;

INLINE int64_t squares_chunks(int64_t count)
{
    return ceil_div(count, SQUARES_CHUNK);
}

static inline size_t squares_bytes(int64_t count)
{
    return (size_t)squares_chunks(count) * sizeof(double);
}

static void squares_chunk(void *arg, int64_t chunk)
{
    const squares_job *job = arg;
    const int64_t end = min64(job->count, (chunk + 1) * SQUARES_CHUNK);
    vec sum[SQUARES_SUMS] = {{0}};
    int64_t i = chunk * SQUARES_CHUNK;
    for (; i + SQUARES_SUMS * VL <= end; i += SQUARES_SUMS * VL) {
        UNROLL
        for (int j = 0; j < SQUARES_SUMS; j++) {
            const vec x = vec_load(job->x + i + j * VL);
            sum[j] += x * x;
        }
    }
    for (; i < end; i += VL) {
        const vec x = vec_load_n(job->x + i, min64(VL, end - i));
        sum[0] += x * x;
    }
    double total = 0;
    for (int j = 0; j < SQUARES_SUMS; j++)
        for (int lane = 0; lane < VL; lane++)
            total += (double)sum[j][lane];
    job->partial[chunk] = total;
}

/* partial: scratch of squares_bytes(count). */
static inline double sum_of_squares(const gr_exec *exec, const float *x, int64_t count, double *partial)
{
    squares_job job = {x, count, partial};
    gr_parallel_for(exec, squares_chunks(count), squares_chunk, &job);
    double total = 0;
    for (int64_t i = 0; i < squares_chunks(count); i++)
        total += partial[i];
    return total;
}

#endif
