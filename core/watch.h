/*
 * watch.h - for a program that looks at kernels' results while a step runs, and for tools that want to know when
 * something begins; gr_trace in core.h tells of what has ended.
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

/* What is called where a kernel, copy or span of a context begins, and where the last that has begun ends. */
typedef struct {
    void (*begin)(void *user, const char *op, const char *module, const char *pass); /* as in gr_trace_event */
    void (*end)(void *user);
    void *user;
} gr_ranges;

/*
 * Watches the ranges of ctx, which lie inside each other or apart; NULL turns it off. Both are to be said outside of
 * any. Other than gr_trace it waits for no device: on one that runs behind the host a kernel's range is the time in
 * which it was sent off. Updates that a device repeats as a whole have no ranges inside. Dry runs have none.
 */
void gr_watch_ranges(gr_context *ctx, const gr_ranges *ranges);

/*
 * Passes the ranges of ctx on to NVTX, NVIDIA's interface for marking a program's own parts: Nsight Systems shows them
 * beside the kernels of the GPU. The tool that looks on names its library in the environment (NVTX_INJECTION64_PATH);
 * nothing of NVIDIA's is needed for building. False: no tool looks on, or what it names cannot be opened; ctx is left
 * as it was.
 */
bool gr_nvtx(gr_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
