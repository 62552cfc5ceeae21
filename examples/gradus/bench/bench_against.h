/* bench_against.h - two builds in turns: what else the machine does, and how it changes, hits both alike. */
#ifndef GRADUS_BENCH_AGAINST_H
#define GRADUS_BENCH_AGAINST_H

#include "bench/bench_settings.h"

/*
 * Measures cases[n] at the batch sizes asked for by s->against and by this program, each turn in a process of its own,
 * and tells which of the two is faster. Returns 0 or an exit code, complained of.
 */
int bench_against(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches);

#endif
