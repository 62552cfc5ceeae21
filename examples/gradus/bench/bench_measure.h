/*
 * bench_measure.h - a case of gradus bench at every batch size asked for: planned, compared with the reference, timed,
 * reported.
 */
#ifndef GRADUS_BENCH_MEASURE_H
#define GRADUS_BENCH_MEASURE_H

#include "bench/bench_report.h"
#include "bench/bench_settings.h"
#include "terminal/progress.h"

/* A run of the command. */
typedef struct {
    const bench_settings *s;
    int64_t batches[BENCH_MAX_BATCHES];
    int n_batches;
    bench_report report;
    progress progress;
    int code; /* the first thing that went wrong */
} bench_run;

/* How far an answer of a context may be from the reference's, as bench_compare tells it. */
double bench_tolerance(const gr_context *ctx);

/* Adds what went wrong to run->code. */
void bench_measure_case(bench_run *run, const bench_case *c);

#endif
