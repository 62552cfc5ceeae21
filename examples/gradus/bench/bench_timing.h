/*
 * bench_timing.h - how long a case takes: each pass, repeated.
 */
#ifndef GRADUS_BENCH_TIMING_H
#define GRADUS_BENCH_TIMING_H

#include "bench/bench_trial.h"

/* What a pass has shown. */
typedef struct {
    int repeats;                             /* 0: the operation has no such pass */
    double median, quartile[2];              /* seconds */
    double flops, bytes_read, bytes_written; /* of one run */
} bench_pass;

/* Warms up and repeats, for so many seconds of each pass. False: the context tells why, or host memory is out. */
bool bench_time(bench_trial *t, double seconds, bench_pass passes[2]);

#endif
