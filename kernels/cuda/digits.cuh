/*
 * digits.cuh - a position as three digits: image, row, column of n = (high*MIDDLE + middle)*LOW + low. A product walks
 * along its depth in equal steps; adding the step's digits with carry costs no division. A walk also knows how far
 * apart a digit's values lie in memory, so that adding to the digits moves the place as well.
 */
#ifndef GRADUS_DIGITS_CUH
#define GRADUS_DIGITS_CUH

#include "kernels/cuda/gpu.h"

typedef struct {
    int high, middle, low;
} digits;

/* How many values a digit has; the high one is open. */
typedef struct {
    int middle, low;
} radices;

static __host__ __device__ inline digits digits_of(int64_t n, radices r)
{
    const int64_t rest = n / r.low;
    return (digits){(int)(rest / r.middle), (int)(rest % r.middle), (int)(n % r.low)};
}

/* digits_of for what is below 2^31. */
GR_DEVICE digits digits_of_int(int n, radices r)
{
    const unsigned rest = (unsigned)n / (unsigned)r.low, high = rest / (unsigned)r.middle;
    return {(int)high, (int)(rest - high * (unsigned)r.middle), (int)((unsigned)n - rest * (unsigned)r.low)};
}

/* d + step; step's own digits are below their radices. */
GR_DEVICE digits digits_add(digits d, digits step, radices r)
{
    d.low += step.low;
    d.middle += step.middle;
    d.high += step.high;
    if (d.low >= r.low)
        d.low -= r.low, d.middle++;
    if (d.middle >= r.middle)
        d.middle -= r.middle, d.high++;
    return d;
}

/* In elements: from a value of a digit to the next. */
typedef struct {
    int64_t high, middle, low;
} pitches;

typedef struct {
    radices count;
    pitches pitch;
    digits step;
    pitches move; /* in elements: of a carry into high, of one into middle, of a step before carries */
} walk;

/* Where a walk has come to: its digits, and elements from digits 0, 0, 0. */
typedef struct {
    digits d;
    int64_t at;
} walker;

/* A walk in steps of so many positions. */
static inline walk walk_of(radices count, pitches pitch, int64_t step)
{
    const digits d = digits_of(step, count);
    const pitches move = {pitch.high - count.middle * pitch.middle, pitch.middle - count.low * pitch.low,
                          d.high * pitch.high + d.middle * pitch.middle + d.low * pitch.low};
    return (walk){count, pitch, d, move};
}

GR_DEVICE walker walker_at(const walk *w, int64_t n)
{
    const digits d = digits_of(n, w->count);
    return (walker){d, d.high * w->pitch.high + d.middle * w->pitch.middle + d.low * w->pitch.low};
}

GR_DEVICE void walker_carry(const walk *w, walker *of)
{
    if (of->d.low >= w->count.low)
        of->d.low -= w->count.low, of->d.middle++, of->at += w->move.middle;
    if (of->d.middle >= w->count.middle)
        of->d.middle -= w->count.middle, of->d.high++, of->at += w->move.high;
}

GR_DEVICE void walker_step(const walk *w, walker *of)
{
    of->d.low += w->step.low, of->d.middle += w->step.middle, of->d.high += w->step.high;
    of->at += w->move.low;
    walker_carry(w, of);
}

/* By one position instead of a step. */
GR_DEVICE void walker_next(const walk *w, walker *of)
{
    of->d.low++, of->at += w->pitch.low;
    walker_carry(w, of);
}

#endif
