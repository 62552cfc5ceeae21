/* bench_shape.h - a case of one's own: a row in the notation of ops.def, as --shape takes it. */
#ifndef GRADUS_BENCH_SHAPE_H
#define GRADUS_BENCH_SHAPE_H

#include "bench/bench_cases.h"

/*
 * Makes a case of operation op (by name) and a row such as "x[N,28,28,96] w[64,3,3,96] same", which must outlive it.
 * What no row of the operation can be is refused here; whether its shapes fit each other, the operation itself tells
 * later. Returns 0 or GR_USAGE, complained of.
 */
int bench_own_case(const char *op, const char *row, bench_case *c);

#endif
