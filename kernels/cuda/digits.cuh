/*
 * digits.cuh - a position as three digits: image, row, column of n = (high*MIDDLE + middle)*LOW + low. A product walks
 * along its depth in equal steps; adding the step's digits with carry costs no division.
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

GR_DEVICE digits digits_next(digits d, radices r)
{
    return digits_add(d, (digits){0, 0, 1}, r);
}

#endif
