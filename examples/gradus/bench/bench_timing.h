/*
 * bench_timing.h - how long a case takes: each pass, in rounds. A round has its memory anew and begins with the
 * machine's limits at the size of the operands, so that what happens to the machine happens to both.
 */
#ifndef GRADUS_BENCH_TIMING_H
#define GRADUS_BENCH_TIMING_H

#include "bench/bench_trial.h"

enum { BENCH_ROUNDS = 100, BENCH_SAMPLES = 50 }; /* at most; the latter in each of the former */

typedef struct {
    int samples;
    double seconds[BENCH_SAMPLES];
} bench_round;

/* What a pass has shown. */
typedef struct {
    bool there;                              /* the operation has such a pass, and it was asked for */
    double median;                           /* seconds, of the rounds' medians */
    double noise;                            /* half the 95 % interval of their mean, as a share */
    double flops, bytes_read, bytes_written; /* of one run */
    bench_round rounds[BENCH_ROUNDS];
} bench_pass;

typedef struct {
    int rounds;
    int64_t touched; /* bytes of all operands of a step together */
    bench_pass passes[2];
    gr_ceilings limits[BENCH_ROUNDS]; /* of each round, at the operands' size */
    gr_ceilings best;                 /* of all rounds */
} bench_times;

/* When a case has been measured for long enough. */
typedef struct {
    double noise;   /* the noise of every pass is at most this share ... */
    double seconds; /* ... or so long has been measured; one round is measured in any case */
} bench_pace;

/*
 * Measures a trial, which is open and has run once; it is opened again with options for each round. False: its context
 * tells why.
 */
bool bench_time(bench_trial *t, const gr_options *options, bench_pace pace, bench_times *times);

/* The median of round r of a pass, in seconds. */
double bench_round_median(const bench_pass *p, int r);

#endif
