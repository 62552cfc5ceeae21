/*
 * bench_report.h - what gradus bench says of a measurement: a row of JSON, with everything that another day's
 * comparison wants, or lines of a table.
 */
#ifndef GRADUS_BENCH_REPORT_H
#define GRADUS_BENCH_REPORT_H

#include <jansson.h>

#include "bench/bench_timing.h"

/* What stands beside every measurement: the machine, and how it is measured. */
typedef struct {
    bool json, counters; /* counts in place of times */
    bool silent;         /* rows are kept alone */
    char device[16], isa[16], precision[8];
    int threads;
    bench_way way;
    json_t *rows; /* of all that was measured, an array */
} bench_report;

/* One line of the table: a case at a batch size. */
typedef struct {
    const bench_case *c;
    int64_t batch, checked; /* samples */
    bool batched;           /* else batch is 1 and means nothing */
    double error;
    bench_times *times;
    gr_counters count[2]; /* with --counters */
    char skipped[160];    /* why nothing was measured; "": it was */
} bench_line;

/* Before all cases and after them, for people. */
void report_machine(const bench_report *r);
void report_legend(const bench_report *r);

/* Before the lines of a case, for people. */
void report_case(const bench_report *r, const bench_case *c);

/* Keeps the line's rows and tells them. */
void report_line(bench_report *r, const bench_line *line);

#endif
