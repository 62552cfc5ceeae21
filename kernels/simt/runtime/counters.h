/* counters.h - tables of what the kernels asked of the memories, on stderr; and the line of a host's mistake. */
#ifndef GRADUS_SIMT_RUNTIME_COUNTERS_H
#define GRADUS_SIMT_RUNTIME_COUNTERS_H

#include "kernels/simt/runtime/runtime.h"

/* Prints what was counted since gr__simt_count_begin, if anything was. */
void gr__cuda_print_counters(void) GR__HIDDEN;

/* "  at FILE:LINE" for the instruction at which the signal's context stands, where it can be found out. */
void gr__cuda_say_where(const void *context) GR__HIDDEN;

/* The same for the innermost call that is the writer's own, of those under way. */
void gr__cuda_say_caller(void) GR__HIDDEN;

#endif
