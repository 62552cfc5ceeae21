/*
 * bench_settings.h - what gradus bench is asked for: operations, batch sizes, a device.
 */
#ifndef GRADUS_BENCH_SETTINGS_H
#define GRADUS_BENCH_SETTINGS_H

#include <gradus.h>

#include "settings/choices.h"
#include "terminal/options.h"

enum { BENCH_MAX_OPERANDS = 64, BENCH_MAX_BATCHES = 32 };

typedef struct {
    const char *batches;
    choice device, precision;
    int64_t threads, memory_limit;
    double seconds;
    bool list, json, counters, ladder;
} bench_settings;

extern const option bench_options[];

/* Whether every operand names an operation that has a shape to be measured with. 0 or an exit code, complained of. */
int bench_check_operands(const char *const *operands);

/* Whether an operation is among the operands; all are where there are none. */
bool bench_chosen(const char *const *operands, const char *op);

/* The batch sizes asked for, or the usual ones, and how many. 0 or an exit code, complained of. */
int bench_parse_batches(const bench_settings *s, int64_t batches[BENCH_MAX_BATCHES], int *n);

/* The context to measure in, without a limit to its memory. */
gr_options bench_context(const bench_settings *s, bool plan_only);
bool bench_in_tf32(const bench_settings *s);

#endif
