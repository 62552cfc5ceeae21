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

/* When a stream of a device did what a kernel or a copy had asked of it. */
typedef struct {
    int64_t tag;       /* that gr_trace_tag gave it; 0: none */
    int stream;        /* of GR_STREAM_... */
    double begin, end; /* seconds on the trace's clock, measured by the device's */
} gr_device_time;
enum { GR_STREAM_COMPUTE = 1, GR_STREAM_COPIES }; /* of all work, in its order; of what is on its way beside it */

/*
 * Device times: from now on, or no more, the trace of ctx does not wait for the device after each kernel. Its events
 * then tell when the host sent something off, and gr_trace_device_times when that was done. Turning them on waits for
 * the device, and forgets what was not told yet; turning the trace off turns them off. Returns whether they are on: not
 * where the device has no clock of its own and events' times are all there is, where nobody traces, or where the
 * context has failed.
 */
bool gr_trace_device(gr_context *ctx, bool on);

/* In the trace's hook: what the device times of this kernel or copy are told with. */
void gr_trace_tag(gr_context *ctx, int64_t tag);

/*
 * Waits for the device and calls tell with all device times since the last call, each once, in the order in which they
 * were asked for. False: the device has failed, and the context with it; or, where gr_ok(ctx), device times are off, or
 * some could not be taken for want of memory.
 */
bool gr_trace_device_times(gr_context *ctx, void (*tell)(void *user, const gr_device_time *time), void *user);

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
