/*
 * clock.h - time on a clock that nobody sets, for differences.
 */
#ifndef GRADUS_CLOCK_H
#define GRADUS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t gr__nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double gr__seconds(void)
{
    return 1e-9 * (double)gr__nanoseconds();
}

#endif
