/*
 * core.h - the public face of core/: contexts, errors, tensors, the step.
 *
 * Errors stick. Nothing in this library exits, aborts or prints. The first failure is kept in the context; from then on
 * every call on that context does nothing and returns NULL, false or 0, and every call accepts the NULL that an earlier
 * one returned. So a program asks gr_ok() once an epoch, not after every line.
 *
 * One context serves one thread. Two contexts can live in one process; there is no global state.
 */
#ifndef GRADUS_CORE_H
#define GRADUS_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GR_VERSION "0.2.0"
/*
 * Numbers in options: 0, which is what a field holds that a program leaves out, means the usual value that stands at
 * the field. Where that is not 0 and a real zero makes sense, GR_ZERO says so: .beta1 = GR_ZERO.
 */
#define GR_ZERO (-0.0)

#define GR_MAX_DIMS 4 /* a tensor has 0 (scalar) to 4 dimensions */

typedef struct gr_context gr_context;
typedef struct gr_tensor gr_tensor;

/* What went wrong; each value is also the exit code that a program should end with. */
typedef enum {
    GR_OK = 0,
    GR_USAGE = 2,        /* a wrong argument: shapes that do not fit, an unknown name, a number out of range */
    GR_BAD_DATA = 3,     /* a file or data set that is not what it should be */
    GR_NO_MEMORY = 4,    /* the host, the device or the memory limit is exhausted */
    GR_IO_ERROR = 5,     /* a file could not be read or written */
    GR_NUMERIC = 6,      /* numbers went bad: a loss that is not finite */
    GR_DEVICE_FAULT = 7, /* the device failed, or another rank of the run has ended */
    GR_STOPPED = 75      /* stopped by a signal after saving; run again to go on */
} gr_code;

typedef enum { GR_F32 = 1, GR_F64, GR_F16, GR_BF16, GR_U8, GR_I32, GR_I64, GR_TYPE_COUNT } gr_type;

/*
 * Arithmetic of a context. FP64 is for proofs and runs on the device "ref" only. FP16 and BF16 are mixed: activations,
 * their gradients and the weights that convolutions and dense layers read are halves, sums and everything else are
 * floats; kernels/ops/ops.def says which tensors of which operation. FP16 comes with a loss scale, see
 * gr_loss_scaling.
 *
 * TF32 stores floats only; convolutions and dense layers round them to tf32 (8 bits of exponent, 10 of fraction) where
 * they multiply them, on tensor cores, and sum in floats: on "cuda", from compute capability 8.0 on, and "simt".
 *
 * BF16X3 and BF16X6 store floats only; convolutions and dense layers split them into two or three pieces of bf16 and
 * add up three or six products of pieces for one, the larger number within twice the error of fp32: on "cpu", where the
 * processor has AMX.
 *
 * No value is also one of gr_type: gr_open refuses GR_BF16, gr_tensor_new refuses GR_PRECISION_BF16.
 */
typedef enum {
    GR_PRECISION_DEFAULT = 0, /* fp32, and fp64 on ref */
    GR_PRECISION_FP32 = 101,
    GR_PRECISION_FP64,
    GR_PRECISION_FP16,
    GR_PRECISION_BF16,
    GR_PRECISION_TF32,
    GR_PRECISION_BF16X3,
    GR_PRECISION_BF16X6
} gr_precision;

/*
 * Memory of the steps from a program of one's own, to compare ways of handing it out: every tensor and all scratch of a
 * step is asked for when it is made and given back when it was needed last, on the context's thread. What is asked for
 * is a function of the network and the shapes, and results do not depend on where it lies. Parameters, gradients and
 * moments do not come from here. The memory limit counts what is lent, not what the allocator holds beside it.
 */
typedef struct {
    void *(*take)(void *user, size_t bytes);         /* 256-byte aligned, garbage; NULL: there is no more */
    void (*give)(void *user, void *p, size_t bytes); /* what take has returned, with its bytes */
    void (*step_end)(void *user);                    /* all of a step has been given back; may be NULL */
    void *user;
} gr_allocator;

typedef struct {
    const char *device;     /* "cpu" (default), "cuda", "cuda:1", "simt" (its kernels on a CPU), "ref" (plain loops) */
    uint64_t seed;          /* everything random in this context is a function of this */
    int threads;            /* 0: as many as this process may use, which is also the most there will be */
    int64_t memory_limit;   /* bytes that tensors, gradients, moments and scratch may take together; 0: no limit */
    gr_precision precision; /* default: fp32 on cpu, fp64 on ref */
    bool plan_only;         /* count memory, allocate none, compute nothing: shapes and bytes of a run, in no time */
    bool no_fusion;         /* build models from single operations only, for comparison */
    const gr_allocator
        *allocator; /* of the steps' memory, on cpu and ref; must outlive the context; NULL: the plan's */
} gr_options;

/*
 * Opens a context. options may be NULL. Returns NULL only when the host cannot even hold the context; any other failure
 * (an unknown device, say) is found with gr_ok.
 */
gr_context *gr_open(const gr_options *options);

/* Frees the context and everything made from it. Returns 0, or the code of the error that was still standing. */
int gr_close(gr_context *ctx);

bool gr_ok(const gr_context *ctx);                /* false also for NULL */
gr_code gr_error_code(const gr_context *ctx);     /* GR_NO_MEMORY for NULL */
const char *gr_error_text(const gr_context *ctx); /* what, where, and what to do; "" when all is well. Owned by ctx. */

/*
 * Forgets the error and every tensor of the unfinished step: the context is usable again. Parameters keep their values.
 */
void gr_clear_error(gr_context *ctx);

typedef struct {
    char name[256];       /* "NVIDIA H200" */
    int capability;       /* compute capability: 90 for 9.0 */
    int64_t memory, free; /* bytes */
    int driver, runtime;  /* CUDA versions that the driver supports and the library was built with: 13000 for 13.0 */
} gr_gpu_info;

/*
 * Describes GPU i of this machine. False: there are no more; *why (may be NULL) says, for i = 0, why none can be used.
 */
bool gr_gpu(int i, gr_gpu_info *info, const char **why);

const char *gr_version(void); /* GR_VERSION of the library in use */
const char *gr_device_name(const gr_context *ctx);
/* Instruction set of the kernels in use: "plain", "avx2", "avx512"; others if GRADUS_CPU says so. */
const char *gr_isa_name(const gr_context *ctx);
/* Instruction set i, from 0, of those that the kernels are compiled for and this processor has. NULL: no more. */
const char *gr_isa(int i);
int gr_thread_count(const gr_context *ctx);
uint64_t gr_seed(const gr_context *ctx);
const char *gr_precision_name(const gr_context *ctx); /* "fp32", "fp64", "fp16", "bf16", "tf32", "bf16x3", "bf16x6" */
gr_type gr_real(const gr_context *ctx);               /* type of parameters: GR_F32, or GR_F64 on ref */
gr_type
gr_compute_type(const gr_context *ctx); /* type of activations: GR_F16 or GR_BF16 under mixed precision, else gr_real */
const char *gr_type_name(gr_type type); /* "f32" */
size_t gr_type_size(gr_type type);      /* bytes of one element */

/* --- tensors: dense, row-major, contiguous. Images are N,H,W,C. --------------------------------------------------- */

/* A tensor that lives until gr_close, filled with zeros. shape has ndim entries, each at least 1. Owned by ctx. */
gr_tensor *gr_tensor_new(gr_context *ctx, gr_type type, int ndim, const int64_t *shape);

/*
 * The same, of type gr_real(ctx), with a gradient that gr_backward fills: a leaf of the tape. gr_variables
 * gives it to an optimizer.
 */
gr_tensor *gr_variable(gr_context *ctx, int ndim, const int64_t *shape);

/*
 * Such a leaf of type gr_compute_type(ctx), as its gradient is: under mixed precision halves, which is what stands
 * between the layers of a network. For programs that test or measure an operation by itself.
 */
gr_tensor *gr_activation(gr_context *ctx, int ndim, const int64_t *shape);

gr_type gr_type_of(const gr_tensor *t);
int gr_ndim(const gr_tensor *t);
int64_t gr_dim(const gr_tensor *t, int i); /* size of dimension i; 0 for NULL or a dimension that is not there */
int64_t gr_count(const gr_tensor *t);      /* number of elements; 0 for NULL */

/* Copies a whole tensor in or out; host is an array of gr_count(t) elements of gr_type_of(t). */
bool gr_upload(gr_tensor *t, const void *host);
bool gr_download(const gr_tensor *t, void *host);

/* Value of a one-element tensor (a loss); NAN on error. Waits for the device. */
double gr_item(const gr_tensor *t);

/* Gradient of a variable or parameter as the last gr_backward left it; NULL before the first. Owned by ctx. */
gr_tensor *gr_grad(const gr_tensor *t);

/* --- the step ----------------------------------------------------------------------------------------------------- */

/*
 * Walks the tape from loss (one element) to the leaves and adds d loss / d leaf to each leaf's gradient. Activations
 * are released on the way: after it, only the loss and the gradients may be read.
 */
bool gr_backward(gr_tensor *loss);

/*
 * The same from any tensor y, given dy, its gradient, of the same type and shape: a vector-Jacobian product. A dy that
 * an operation returned is used up; one of gr_tensor_new keeps its values.
 */
bool gr_backward_from(gr_tensor *y, gr_tensor *dy);

/*
 * Marks every gradient of ctx empty: the next gr_backward overwrites. gr_optimizer_step does so for its own model's;
 * the gradients of other models, and of variables that no optimizer has, stay until this.
 */
void gr_clear_gradients(gr_context *ctx);

/*
 * Ends a step: everything that operations returned since the last call is gone. Whatever is handed such a tensor later
 * refuses it (GR_USAGE), however much later. The context must still be open.
 */
void gr_step_end(gr_context *ctx);

/* Off: operations leave no trace on the tape and keep nothing for a backward pass (evaluation). Returns what it was. */
bool gr_record(gr_context *ctx, bool on);

/*
 * Sum of sample weights of the whole coming update, by which losses are divided. Loaders set it; a program that feeds
 * batches by hand may leave it alone: a loss then divides by its own batch size. Forgotten at the optimizer step.
 */
void gr_set_update_weight(gr_context *ctx, double weight);

/*
 * Dry run. Between the two calls operations check shapes and lay out memory, but no kernel runs and no step memory is
 * taken. gr_plan_end ends the planned step, reserves what it needs and returns the peak in bytes of step memory (-1 on
 * error, out of memory included). A step that follows the plan allocates nothing and its addresses repeat.
 */
void gr_plan_begin(gr_context *ctx);
int64_t gr_plan_end(gr_context *ctx);

typedef struct {
    int64_t persistent;      /* bytes now held by parameters, gradients, moments, batch buffers */
    int64_t persistent_peak; /* the most it has been */
    int64_t step_peak;       /* the most a single step has used */
    int64_t peak;            /* the most that both together have been: what the memory limit bounds */
    int64_t limit;           /* 0: none */
} gr_memory;
gr_memory gr_memory_use(const gr_context *ctx);

/* --- trace -------------------------------------------------------------------------------------------------------- */

/*
 * What CUDA kernels asked of the memories, counted by the emulator. A request is one access by one warp; 32
 * neighbouring floats lie in 4 sectors of 32 bytes.
 */
typedef struct {
    int64_t launches, threads, barriers;     /* barriers: times that a block met */
    int64_t shared_requests, bank_conflicts; /* extra turns because lanes needed different words of one bank */
    int64_t global_requests, global_sectors;
    int64_t lanes; /* at work, of 32 in every request */
} gr_counters;

/* Whether the trace of ctx counts: device simt, in a build with GRADUS_SIMT_CHECK. */
bool gr_counts(const gr_context *ctx);

typedef enum {
    GR_TRACE_KERNEL = 0, /* one pass of an operation */
    GR_TRACE_COPY,       /* "upload" to the device or "download" from it */
    GR_TRACE_SPAN        /* what lies around others: "forward", "conv1", "loader", or a program's own */
} gr_trace_kind;

typedef struct {
    gr_trace_kind kind;
    const char *op;                   /* "conv2d", or the name of the copy or span */
    const char *module;               /* "conv1", or "" outside a module */
    const char *pass;                 /* of a kernel: "forward", "backward" or "update"; else "" */
    double flops;                     /* floating-point operations of this call, by formula */
    double bytes_read, bytes_written; /* of every tensor that the pass needs or makes, once; scratch is left out */
    int64_t memory;    /* of a kernel or copy: the most bytes taken on the device since the one before it ended */
    int thread;        /* 0: the context's; else the system's number of a loader's worker, told of afterwards */
    double begin, end; /* seconds on a monotonic clock */
    gr_counters count; /* all 0 unless gr_counts(ctx) */
} gr_trace_event;

/*
 * Calls hook after every kernel, copy and span of ctx; NULL turns it off. The names live as long as what they name. An
 * event comes when it ends, so what lies inside it has come before. Costs two clock readings an event while on; a
 * device that runs behind the host is waited for after each kernel (else: watch.h), and repeats no update as a whole.
 */
void gr_trace(gr_context *ctx, void (*hook)(void *user, const gr_trace_event *event), void *user);

/*
 * The inputs of the kernel that the hook is told of, "x[32,24,24,3] w[64,5,5,3] b[64]", into text, which is returned;
 * "" for others and outside the hook.
 */
char *gr_trace_shapes(const gr_context *ctx, char *text, size_t size);

/*
 * A span of a program's own: gr_span_begin before, its result to gr_span_end behind, with the same name. Spans lie
 * inside each other or apart. name must live as long as whoever traces wants it. Nothing happens where nobody looks on
 * (gr_trace, gr_watch_ranges), and in dry runs.
 */
double gr_span_begin(const gr_context *ctx, const char *name);
void gr_span_end(gr_context *ctx, const char *name, double begin);

/* What the machine allows a kernel of this context: its device, type, instruction set and threads. */
typedef struct {
    double flops; /* floating-point operations a second with all operands in registers; a multiply-add is two */
    double read;  /* bytes a second read from memory, far beyond the caches */
    double copy;  /* bytes a second of a copy in memory: bytes read and bytes written */
} gr_ceilings;

/* Measures them, now: a second, and 256 MiB while it lasts. All zero on error and in a context that only plans. */
gr_ceilings gr_measure_ceilings(gr_context *ctx);

/*
 * The same for operands of so many bytes in all, at most 256 MiB, in about so many seconds: what fits into a cache is
 * read and copied at the pace of that cache, and an operation is to be held against the level where its operands are.
 */
gr_ceilings gr_measure_ceilings_at(gr_context *ctx, int64_t bytes, double seconds);

#ifdef __cplusplus
}
#endif
#endif
