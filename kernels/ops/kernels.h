/*
 * kernels.h - what the files of kernels/ share: the table of operations and the devices.
 */
#ifndef GRADUS_KERNELS_H
#define GRADUS_KERNELS_H

#include "core/device.h"
#include "kernels/ops/ops.h"
#include "kernels/ops/updates.h"

/* GR_OP_conv2d, GR_OP_max_pool2d, ... in the order of ops.def. */
enum {
#define GR_OP(name, ...) GR_OP_##name,
#include "kernels/ops/ops.def"
    GR_OP_COUNT
};

extern const gr_op gr__ops[GR_OP_COUNT];

/* Args that are no struct of ops.h: of operations without any, and of those whose fronts take them as parameters. */
typedef struct {
    char nothing;
} gr_no_args;

typedef struct {
    double rate;   /* share of the elements that becomes 0, from 0 to below 1 */
    uint32_t draw; /* the number of the call within its micro-batch */
} gr__dropout_args;

typedef struct {
    bool f16, bf16; /* neither: the real type */
} gr__cast_args;

typedef struct {
    int64_t shape[GR_MAX_DIMS]; /* 0 behind the last */
} gr__reshape_args;

/* gr__args_of_NAME: the type of an operation's args. */
#define GR_OP(name, kind, inputs, outputs, formula, args, ...) typedef args gr__args_of_##name;
#include "kernels/ops/ops.def"

/*
 * For fronts: gr__op_begin of operation name with its args, of their own type or NULL, and its inputs. Args of another
 * type do not compile.
 */
#define gr__begin(build, name, args, ...) \
    gr__op_begin(build, &gr__ops[GR_OP_##name], (gr_tensor *[]){__VA_ARGS__}, (const gr__args_of_##name *){args})

/* Floating-point operations of the calls whose lines name a function; each lives with its front. */
double gr__conv2d_flops(const gr_call *call, gr_pass pass);
double gr__conv2d_relu_max_pool_flops(const gr_call *call, gr_pass pass);
double gr__dense_flops(const gr_call *call, gr_pass pass);
double gr__batch_norm_flops(const gr_call *call, gr_pass pass);
double gr__dense_update_flops(const gr_call *call, double step); /* step: of the optimizer, for each weight */

/*
 * A tracked statistic's next value: it + momentum (towards - it). By itself, so that no instruction set makes a fused
 * multiply-add of it: the kernels of all of them give the same bits.
 */
double gr__batch_norm_moved(double it, double towards, double momentum);

/* Kernel tables by operation id, one per reference type and per instruction set of the cpu device. */
extern const gr_kernel gr__ref_f32_kernels[GR_OP_COUNT];
extern const gr_kernel gr__ref_f64_kernels[GR_OP_COUNT];
extern const gr_kernel gr__cpu_plain_kernels[GR_OP_COUNT]; /* forward NULL: the reference serves */
#if defined(__x86_64__)
extern const gr_kernel gr__cpu_avx2_kernels[GR_OP_COUNT];
extern const gr_kernel gr__cpu_avx512_kernels[GR_OP_COUNT];
extern const gr_kernel gr__cpu_amx_kernels[GR_OP_COUNT];         /* forward NULL: those for AVX-512 serve, */
extern const gr_kernel gr__cpu_avx512_bf16_kernels[GR_OP_COUNT]; /* here, too */
#endif
extern const gr_kernel gr__cpu_amx_emulated_kernels[GR_OP_COUNT];  /* forward NULL: the plain ones serve, */
extern const gr_kernel gr__cpu_bf16_emulated_kernels[GR_OP_COUNT]; /* here, too */

extern const gr_kernel gr__simt_kernels[GR_OP_COUNT]; /* the .cu files, run on a CPU */
extern const gr_kernel gr__cuda_kernels[GR_OP_COUNT]; /* and on a GPU: only in builds with CUDA */

/* What finds the limits of each. */
extern const gr_probes gr__cuda_probes, gr__ref_f32_probes, gr__ref_f64_probes, gr__cpu_plain_probes;
#if defined(__x86_64__)
extern const gr_probes gr__cpu_avx2_probes, gr__cpu_avx512_probes;
#endif

/* Devices. NULL: *why says what is wrong and what to do, or is NULL: the host is out of memory or threads. */
gr_device *gr__ref_device(gr_type real, const char **why);
gr_device *gr__cpu_device(int threads, const char **why);
gr_device *gr__simt_device(const char **why);
gr_device *gr__cuda_device(const char *which, const char **why); /* which: its number; NULL: GRADUS_GPU's */

/* Size and place of the padding that a window has over an image; the front's and every kernel's only source. */
typedef struct {
    int64_t n, h, w, c; /* image batch */
    int64_t r, s;       /* window rows, columns */
    int64_t p, q;       /* output rows, columns */
    int64_t stride_h, stride_w;
    int64_t pad_top, pad_left;
} gr_geometry;

/*
 * Geometry of a window over x[N,H,W,C]. A stride of 0 means 1, or the window's own size where stride_is_size. p or q
 * below 1: the window does not fit.
 */
gr_geometry gr__geometry(const gr_tensor *x, int64_t r, int64_t s, const gr_window *window, bool stride_is_size);

/*
 * For fronts: checks a window against its geometry and writes it out in full, strides and padding explicit, as kernels
 * find it. False: recorded.
 */
bool gr__window_resolve(gr_build *b, gr_window *window, const gr_geometry *g);

/* For fronts of convolutions: x, w and b of slots 0 to 2 against each other and the window. False: recorded. */
bool gr__conv2d_check(gr_build *call, gr_window *window, gr_geometry *g);

/*
 * For fronts of poolings: geometry of a window of size rows and columns over images [.., h, w, ..]; checks that every
 * window sees some of the image, and resolves the window. False: recorded.
 */
bool gr__pool2d_check(gr_build *call, const gr_tensor *x, const int size[2], gr_window *window, gr_geometry *g);

/* The same for max-poolings, whose windows are small enough for the byte that argmax is kept in. False: recorded. */
bool gr__max_pool2d_check(gr_build *call, const gr_tensor *x, gr_max_pool2d_args *args, gr_geometry *g);

/* For fronts of losses and metrics: z[N,C] with labels[N] and weight[N] (or NULL). False: recorded. */
bool gr__check_labels(gr_build *b);

/* For fronts of element-wise operations: in[i] has the shape of in[0]. False: recorded. */
bool gr__check_same_shape(gr_build *b, int i, const char *name);

/* For fronts of element-wise operations and UPDATEs: in[i] has as many elements as in[0]. False: recorded. */
bool gr__check_same_count(gr_build *b, int i, const char *name);

/* For fronts: in[i] has one element. False: recorded. */
bool gr__check_scalar(gr_build *b, int i, const char *name);

/*
 * For fronts of operations made of products: so many images, channels, taps, ... are fewer than 2^31, with room for a
 * tile's edge, as kernels count them in ints. False: recorded.
 */
bool gr__check_countable(gr_build *b, int64_t count, const char *name);

/* For fronts of optimizer steps: a decay must be finite and not negative. False: recorded. */
bool gr__check_decay(gr_build *b, double weight_decay);

/* Completes args of normalise: a std of 0 becomes 1. False: recorded. */
bool gr__normalise_resolve(gr_build *b, gr_normalise_args *args);

/* For fronts of the loss scale: in[i] is a scaler. False: recorded. */
bool gr__check_scaler(gr_build *b, int i);

/* Completes Adam's args: betas and epsilon where they are 0. False: recorded. */
bool gr__adam_resolve(gr_build *b);

#endif
