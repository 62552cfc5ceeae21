/*
 * watch.h - for a program that looks at kernels' results while a step runs; gr_trace in core.h tells of the kernels.
 */
#ifndef GRADUS_WATCH_H
#define GRADUS_WATCH_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the forward kernel that the trace's hook is told of has computed, for gr_download in the hook: its values may be
 * gone when the step goes on. NULL for others, in dry runs and outside the hook.
 */
gr_tensor *gr_trace_result(const gr_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
