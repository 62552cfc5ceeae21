/*
 * bench_settings.h - what gradus bench is asked for: operations, batch sizes, a device.
 */
#ifndef GRADUS_BENCH_SETTINGS_H
#define GRADUS_BENCH_SETTINGS_H

#include <gradus.h>

#include "bench/bench_timing.h"
#include "settings/choices.h"
#include "terminal/options.h"

enum { BENCH_MAX_OPERANDS = 64, BENCH_MAX_BATCHES = 32 };

typedef struct {
    const char *batches, *shape, *about, *compare, *against, *csv, *bound, *recipe;
    choice device, precision, part;
    int64_t threads, memory_limit;
    double seconds, noise; /* noise in percent */
    bool cold, pin, unchecked, list, json, counters, ladder, calibrate;
} bench_settings;

extern const option bench_options[];

/* Whether every operand names an operation that has a shape to be measured with. 0 or an exit code, complained of. */
int bench_check_operands(const char *const *operands);

/* Whether an operation is among the operands; all are where there are none. */
bool bench_chosen(const char *const *operands, const char *op);

/* Whether a case is asked for: its operation, by its words, by its passes. */
bool bench_wanted(const bench_settings *s, const char *const *operands, const bench_case *c);

/* Whether the options go together. 0 or GR_USAGE, complained of. */
int bench_check_settings(const bench_settings *s, const char *const *operands);

/* The batch sizes asked for, or the usual ones, and how many. 0 or an exit code, complained of. */
int bench_parse_batches(const bench_settings *s, int64_t batches[BENCH_MAX_BATCHES], int *n);

/* The context to measure in, without a limit to its memory. */
gr_options bench_context(const bench_settings *s, bool plan_only);

bench_way bench_way_of(const bench_settings *s);
bench_pace bench_pace_of(const bench_settings *s);

#endif
