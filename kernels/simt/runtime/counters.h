/* counters.h - tables of what the kernels asked of the memories, on stderr; and the line of a host's mistake. */
#ifndef GRADUS_SIMT_RUNTIME_COUNTERS_H
#define GRADUS_SIMT_RUNTIME_COUNTERS_H

#include "kernels/simt/runtime/runtime.h"

/* Prints what was counted since gr__simt_count_begin, if anything was. */
void gr__cuda_print_counters(void) GR__HIDDEN;

/*
 * "  at FILE:LINE" for the instruction at which the signal's context stands; false: that cannot be found out.
 * in_program: whether it is the program's or the emulator's own, so that no lock of a library is held.
 */
bool gr__cuda_say_where(const void *context) GR__HIDDEN;
bool gr__cuda_in_program(const void *context) GR__HIDDEN;

/* The same for the innermost call that is the writer's own, of those under way; or in two steps:
 * which calls there are, and that one of them. */
enum { GR__CALLERS = 32 };
void gr__cuda_say_caller(void) GR__HIDDEN;
int gr__cuda_callers(void *pc[GR__CALLERS]) GR__HIDDEN;
bool gr__cuda_say_first(void *const *pc, int n) GR__HIDDEN;

#endif
