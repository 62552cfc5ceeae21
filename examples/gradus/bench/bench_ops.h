/* bench_ops.h - what kernels/ops/ops.def says of an operation; by its number, as gr_op_name counts. */
#ifndef GRADUS_BENCH_OPS_H
#define GRADUS_BENCH_OPS_H

#include "kernels/ops/notation.h"

int bench_op(const char *name);     /* the number; -1: there is no such operation */
bool bench_is_update(int op);       /* whether it changes state */
const gr_slot *bench_slots(int op); /* its inputs, ended by one without a name */

#endif
