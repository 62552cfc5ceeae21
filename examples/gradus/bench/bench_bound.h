/* bench_bound.h - gradus bench --bound: what a step or the ladder takes on a GPU that is not there; told, not timed. */
#ifndef GRADUS_BENCH_BOUND_H
#define GRADUS_BENCH_BOUND_H

#include "bench/bench_settings.h"

/* Whether the options go together with --bound. 0 or GR_USAGE, complained of. */
int bench_check_bound(const bench_settings *s, const char *const *operands);

/* Becomes scripts/bench_bound.py, which does all of it. Returns only where it cannot: an exit code, complained of. */
int bench_bound(const bench_settings *s);

#endif
