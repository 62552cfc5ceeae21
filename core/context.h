/*
 * context.h - what a context holds, for the files of core/ and for those above that steer the engine (nn, optim).
 */
#ifndef GRADUS_CONTEXT_H
#define GRADUS_CONTEXT_H

#include "core/device.h"
#include "core/handles.h"
#include "core/lent.h"
#include "core/tape.h"
#include "core/watch.h"

/* Something of a module above core that must be freed with the context. */
typedef struct gr_owned {
    struct gr_owned *next;
    void *object;
    void (*destroy)(void *object);
} gr_owned;

struct gr_context {
    gr_options options;
    gr_device *device;
    gr_code code;
    char error[1024];
    const char *module; /* the module whose forward runs, for messages and the trace */

    gr_arena *arena; /* step memory */
    gr_arena *plan;  /* its stand-in while planning */
    gr_lent lent;    /* or what the program's own allocator has lent */
    bool planning;   /* dry run: between gr_plan_begin and gr_plan_end, or always with plan_only */
    bool recording;  /* write the tape */
    bool capturing;  /* the device writes a step down and does not do it: the step state on it stays as it is */
    int64_t frees;   /* how often device memory was freed: addresses from before may be another's */
    const struct gr_mixed_precision *mixed; /* the answers to precision.h */
    gr_type compute;                        /* of activations: the device's real type, or a half */
    gr_tensor *scaler;  /* [GR_SCALER_VALUES], the end of the step state, which is the device's; NULL: no loss scale */
    float *skips;       /* whose count of skipped updates the step state holds: an optimizer's; NULL: nobody's yet */
    double other_skips; /* skipped updates of all others */
    int64_t persistent, persistent_peak, step_bytes, step_peak, peak; /* bytes; step_bytes: held by the step arena */

    gr_handles handles, step_handles; /* headers of persistent tensors, and of the step's */
    gr_tensor **headers;              /* of the step */
    int n_headers, cap_headers;
    gr_node **nodes; /* the tape; nodes are kept for reuse */
    int n_nodes, cap_nodes;
    gr_tensor **leaves; /* variables and parameters, for gr_clear_gradients */
    int n_leaves, cap_leaves;
    int64_t steps;              /* ended so far */
    int n_draws;                /* operations of this micro-batch that draw random numbers */
    struct gr_meeting *meeting; /* of shards whose batch normalisation has statistics in common; NULL: each its own */

    gr_step_state state; /* host copy */
    void *device_state;  /* gr_step_state that kernels read */
    gr_tensor *one;      /* 1.0, the seed of backward */

    void (*trace)(void *user, const gr_trace_event *event);
    void *trace_user;
    gr_ranges ranges;       /* begin NULL: nobody watches */
    const gr_op *traced_op; /* of the kernel that the hook is told of; NULL: it is told of none */
    const gr_call *traced_call;
    gr_tensor *traced_result; /* of a forward pass; NULL: of another */
    void (*inspect)(void *user, const gr_op *op, const gr_call *call,
                    gr_pass pass); /* after every kernel; NULL: nobody */
    void *inspect_user;
    gr_owned *owned;
};

/* Records the first error; later ones are dropped. Always returns false. */
bool gr__fail(gr_context *ctx, gr_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The code of a failed call on a file, by its errno: there may have been no memory for it. */
gr_code gr__io_code(int error);

/*
 * Whether it is the path that is at fault where a call failed with this errno: it leads to nothing, or to what may not
 * be opened. Else it is the system, and the same call may succeed another time.
 */
bool gr__is_paths_fault(int error);

/* Records that the device has failed, with what it says itself, while so and so happened. Always returns false. */
bool gr__device_failed(gr_context *ctx, const char *while_what);

/* Has object destroyed at gr_close, in reverse order of registration. False (and destroyed at once): no memory. */
bool gr__own(gr_context *ctx, void *object, void (*destroy)(void *object));
/* A copy of text, the context's until gr_close. NULL: recorded. */
const char *gr__keep_text(gr_context *ctx, const char *text);

/* Destroys an owned object now. */
void gr__disown(gr_context *ctx, void *object);

/* calloc that fails into the context. NULL: recorded. */
void *gr__calloc(gr_context *ctx, size_t count, size_t size);

/* Writes the host copy of the step state to the device. */
bool gr__state_write(gr_context *ctx);

/*
 * Device memory until gr__persistent_free, zero-filled and counted against the limit; what it is for goes into the
 * message when there is none. With plan_only it is counted, not taken, and *p is NULL.
 */
bool gr__persistent_alloc(gr_context *ctx, size_t bytes, const char *what, void **p);
void gr__persistent_free(gr_context *ctx, void *p, size_t bytes);

/* Sets the module that errors and trace name; returns the one before. */
const char *gr__enter_module(gr_context *ctx, const char *name);

/* Makes step memory hold at least bytes in one piece, for a step about to begin. False: recorded. */
bool gr__step_reserve(gr_context *ctx, int64_t bytes);

/* Runs one pass of a call as it is, with its scratch. False: recorded. */
bool gr__run_plain(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass);

/* Allocates a block of step memory and tells where it lies (NULL while planning). False: recorded. */
bool gr__step_alloc(gr_context *ctx, size_t bytes, gr_block *block, void **address);
void gr__step_free(gr_context *ctx, const gr_block *block);

/* The most bytes of step memory in blocks at a time since the last call. */
int64_t gr__step_take_most(gr_context *ctx);

/* Forgets the tape and everything that lives for a step. */
void gr__step_reset(gr_context *ctx);

/* Grows *array (elements of size bytes) to hold at least need of them. False: recorded. */
bool gr__grow(gr_context *ctx, void *array, int *capacity, int need, size_t size);

#endif
