/*
 * trace.h - for whoever reports to the trace of a context: kernels (op.c), copies, spans. Where nobody traces each
 * costs a comparison.
 */
#ifndef GRADUS_TRACE_H
#define GRADUS_TRACE_H

#include "core/context.h"

/* "forward", "backward" or, of an UPDATE, "update". */
const char *gr__pass_name(const gr_op *op, gr_pass pass);

/* Tells whoever watches ranges; false: nobody does, and no end is to follow. pass: "" of what is no kernel. */
bool gr__range_begin(const gr_context *ctx, const char *name, const char *pass);
void gr__range_end(const gr_context *ctx);

/* A kernel that has run from event.begin to event.end; what else is to be said of it is filled in. */
void gr__trace_kernel(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass, gr_trace_event event);

/*
 * Around what a kernel asks of its device: times it by the device's clock, or (-1) waits for it where somebody traces
 * and does not want that.
 */
int gr__trace_stretch_begin(gr_context *ctx);
void gr__trace_stretch_end(gr_context *ctx, int stretch);

/* Adding one gradient to another of the same tensor, which is no operation: begin as gr_span_begin gave it. */
void gr__trace_sum(gr_context *ctx, const gr_tensor *sum, double begin);

/* A copy of so many bytes since begin, of gr_span_begin. */
void gr__trace_copy(gr_context *ctx, const char *name, size_t bytes, double begin);

/* What another thread has done, of which this one now knows. thread: the system's number; times in nanoseconds. */
void gr__trace_elsewhere(gr_context *ctx, const char *name, int thread, int64_t begin, int64_t end);

#endif
