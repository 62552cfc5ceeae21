/*
 * bench_report.h - what gradus bench says of a measurement: lines of a table, or lines of JSON.
 */
#ifndef GRADUS_BENCH_REPORT_H
#define GRADUS_BENCH_REPORT_H

#include "bench/bench_timing.h"

/* What stands beside every measurement: the machine, and what it allows. */
typedef struct {
    bool json, counters; /* counts in place of times */
    gr_ceilings ceilings;
    char device[16], isa[16], precision[8];
    int threads;
} bench_report;

/* One line of the table: a case at a batch size. */
typedef struct {
    const bench_case *c;
    int64_t batch, checked; /* samples; 0: the case has no batch */
    double error;
    bench_pass passes[2];
    gr_counters count[2]; /* with --counters */
    char skipped[160];    /* why nothing was measured; "": it was */
} bench_line;

/* Before all cases and after them, for people. */
void report_machine(const bench_report *r);
void report_legend(const bench_report *r);

/* Before the lines of a case, for people. */
void report_case(const bench_report *r, const bench_case *c);

void report_line(const bench_report *r, const bench_line *line);

#endif
