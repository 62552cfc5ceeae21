/* bench_row.h - a pass of a case at a batch size as one row of JSON. */
#ifndef GRADUS_BENCH_ROW_H
#define GRADUS_BENCH_ROW_H

#include "bench/bench_report.h"

/* "forward", "backward", "update", "dx" or "dw". */
const char *pass_name(const bench_line *line, const bench_way *way, int pass);

/* A row of a pass (-1: of none, of a line that was left out), a new reference. */
json_t *bench_row_json(const bench_report *r, const bench_line *line, int pass);

/* Shares of the limits that were measured beside a pass: of arithmetic, and of the least time that memory takes. */
double flops_share(const bench_times *times, const bench_pass *p);
double memory_share(const bench_times *times, const bench_pass *p);

/* Where the operands of a line lie: "L1", "L2", "L3", "memory"; "" on a device whose caches are not known. */
const char *level_of(const bench_report *r, const bench_times *times);

#endif
