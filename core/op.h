/*
 * op.h - the contract of an operation: what it is (gr_op), one call of it (gr_call), and how a front makes that call.
 *
 * A front (kernels/ops) checks shapes and allocates, the engine runs the kernel and writes the tape, a kernel
 * computes. A kernel never allocates and never sees the context.
 */
#ifndef GRADUS_OP_H
#define GRADUS_OP_H

#include "core/step_state.h"
#include "core/tensor.h"

struct gr_pool;

enum { GR_MAX_IN = 8, GR_MAX_OUT = 3, GR_MAX_ARGS = 128 /* bytes of an option struct */ };
enum { GR_ARRIVALS = 1024 };

/* What a kernel may use beside its tensors. */
typedef struct gr_exec {
    struct gr_pool *pool; /* threads of a CPU device, for gr_parallel_for */
    void *queue;          /* stream of a GPU device */
    void *scratch;        /* as many bytes as the kernel's scratch function asked for, 256-byte aligned, garbage */
    unsigned *arrivals;   /* of a GPU: GR_ARRIVALS words, 0 between kernels, with which blocks of one are counted */
    const gr_step_state *state; /* on the device */
    bool tf32;                  /* products of floats round their factors to tf32; the device has gr_device.tf32 */
    int pieces;                 /* or split them into so many of bf16; 0: they do not. It has gr_device.pieces */
    int multiprocessors;        /* of a GPU: products are cut for so many; 0 elsewhere */
    bool wgmma;                 /* products of halves may go by wgmma; the device has gr_device.wgmma */
} gr_exec;

/* One call of one operation: all that a kernel sees, forward and backward. */
typedef struct gr_call {
    const gr_exec *exec;
    const void *options;          /* the operation's args struct, never NULL */
    int n_in, n_out;              /* number of slots in ops.def */
    gr_tensor *in[GR_MAX_IN];     /* inputs; NULL: an optional one is absent */
    gr_tensor *out[GR_MAX_OUT];   /* out[0] the result, the rest kept for backward; NULL: not wanted */
    gr_tensor *d_in[GR_MAX_IN];   /* gradients wanted; NULL: not wanted */
    gr_tensor *d_out[GR_MAX_OUT]; /* d_out[0] */
    unsigned accumulate;          /* bit i set: d_in[i] += ; clear: d_in[i] = (the buffer holds garbage) */
    gr_tensor *copy;              /* of an input that is changed, in halves, up to date: to be kept so; NULL: none */
    int variant;                  /* 0: best for the shape; 1..n a named variant, for tests and benchmarks */
} gr_call;

typedef enum { GR_FORWARD, GR_BACKWARD } gr_pass;

/* Computes one pass of a call. Inputs, out[] (in backward) and d_out[] are read-only, CHANGED slots excepted. */
typedef void (*gr_kernel_fn)(const gr_call *call);

/* What a device offers for one operation. */
typedef struct {
    gr_kernel_fn forward;                                 /* for UPDATE operations: the update */
    gr_kernel_fn backward;                                /* NULL unless DIFF */
    size_t (*scratch)(const gr_call *call, gr_pass pass); /* bytes, from shapes, types, options and exec; NULL: none */
    bool (*halves)(const gr_call *call, gr_pass pass); /* whether it takes the call's halves as they are; NULL: never */
    /*
     * Bit i: it rounds a real in[i] where HALF stands to the half type as it reads it: no copy is made. Where REAL
     * stands, weights that are updated: what it multiplies is rounded.
     */
    unsigned rounds;
    unsigned copies; /* bit i: it changes in[i], and gr_call.copy with it */
} gr_kernel;

typedef enum { GR_DIFF, GR_PURE, GR_UPDATE } gr_op_kind;

/* What a slot takes, see ops.def. */
typedef enum { GR_SLOT_REAL, GR_SLOT_HALF, GR_SLOT_EITHER, GR_SLOT_FLOATING, GR_SLOT_U8, GR_SLOT_I32 } gr_slot_type;

/* What is to be said of a slot, see ops.def. */
enum {
    GR_SLOT_GRAD = 1 << 0,
    GR_SLOT_OPTIONAL = 1 << 1,
    GR_SLOT_CHANGED = 1 << 2, /* in place */
    GR_SLOT_REPLACED = GR_SLOT_CHANGED | 1 << 3,
    GR_SLOT_TAPED = 1 << 4,
    GR_SLOT_SAMPLES = 1 << 5,
    GR_SLOT_SAVED = 1 << 6,
    GR_SLOT_POSITIVE = 1 << 7,
    GR_SLOT_PICKED = 1 << 8
};

/* One slot of an operation: an input or an output. */
typedef struct {
    const char *name; /* NULL behind the last */
    gr_slot_type type;
    unsigned flags;
} gr_slot;

/* One entry of ops.def. */
typedef struct gr_op {
    int id; /* its position in ops.def */
    const char *name;
    gr_op_kind kind;
    int n_in, n_out; /* slots */
    gr_slot in[GR_MAX_IN + 1], out[GR_MAX_OUT + 1];
    const char *formula;
    size_t args_size;                                   /* of its options */
    double (*flops)(const gr_call *call, gr_pass pass); /* floating-point operations; a multiply-add is two */
} gr_op;

/* --- for fronts --------------------------------------------------------------------------------------------------- */

/* A call being built. */
typedef struct {
    gr_context *ctx;
    const gr_op *op;
    gr_call call;
    unsigned char args[GR_MAX_ARGS] __attribute__((aligned(16)));
} gr_build;

/*
 * Starts a call with the operation's inputs (one per slot, NULL where absent) and a copy of its args (NULL: all zero).
 * False, with nothing to undo, when a required input is NULL, the context has an error standing, or - recorded as an
 * error - a tensor is gone, contexts are mixed or types do not fit the slots. Fronts call it by gr__begin, which knows
 * the args' type.
 */
bool gr__op_begin(gr_build *b, const gr_op *op, gr_tensor *const *in, const void *args);

/* The args of the call being built, to be completed in place (defaults made explicit). */
void *gr__op_args(gr_build *b);

/* The number of the call being built among those of its micro-batch that draw random numbers: 0, 1, ... */
uint32_t gr__op_draw(gr_build *b);

/* Records a usage error "OP (MODULE) SHAPES: message" and returns NULL. The message says what is wrong and the cure. */
gr_tensor *gr__op_fail(gr_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether recording is on, whether this call will be differentiated or not. */
bool gr__op_recording(const gr_build *b);

/* Allocates output slot i. False when memory is out. A TAPED slot is made only if a tape is kept. */
bool gr__op_output(gr_build *b, int slot, int ndim, const int64_t *shape);

/* The same where the slot leaves the type open. */
bool gr__op_output_as(gr_build *b, int slot, gr_type type, int ndim, const int64_t *shape);

/* Runs the forward kernel, writes the tape and returns out[0] (for UPDATE operations without outputs: in[0]). */
gr_tensor *gr__op_run(gr_build *b);

/* As gr__op_run for an operation whose result shares the storage of in[0]: nothing is computed. */
gr_tensor *gr__op_run_alias(gr_build *b, int ndim, const int64_t *shape);

/* --- for devices -------------------------------------------------------------------------------------------------- */

/*
 * For gr_kernel.halves of a kernel that stores halves and computes in floats: whether the tensors of a call are what
 * ops.def's types make of them under mixed precision. HALF and EITHER slots, and the gradients of activations there,
 * are halves of one type; all others are not.
 */
bool gr__halves_by_type(const gr_op *op, const gr_call *call, gr_pass pass);

/* --- for the engine and for tests --------------------------------------------------------------------------------- */

/*
 * Runs one pass of a call on the context's device: takes scratch from the step arena, calls the kernel, gives it back,
 * traces. False and a sticky error when scratch does not fit.
 */
bool gr__run_kernel(gr_context *ctx, const gr_op *op, gr_call *call, gr_pass pass);

#endif
