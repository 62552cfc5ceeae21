/*
 * bench_ladder.h - gradus bench gemm --ladder: one matrix product, written again and again, each time with one idea
 * more.
 */
#ifndef GRADUS_BENCH_LADDER_H
#define GRADUS_BENCH_LADDER_H

#include <stdbool.h>

#include <gradus.h>

#include "kernels/ops/updates.h"

/*
 * Checks and measures every rung on the options' device: times beside the ceiling on a GPU, counters where they are
 * counted. Repeats for so many seconds. Returns 0 or an exit code, complained of.
 */
int bench_ladder(const gr_options *options, double seconds, bool json);

#endif
