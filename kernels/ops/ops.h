/*
 * ops.h - the public face of kernels/: every operation that a program can call.
 *
 * An operation checks its shapes, allocates its result in the step's memory, computes it and leaves a note on the tape.
 * Results live until gr_step_end. Where an argument is marked "or NULL" it is optional; NULL anywhere else, and any
 * call on a context with a standing error, returns NULL. Types: real is gr_real(ctx); labels are i32; weights are real.
 *
 * Letters: N batch, H W input rows and columns, C input channels, K filters, R S filter rows and columns, P Q output.
 */
#ifndef GRADUS_OPS_H
#define GRADUS_OPS_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GR_VALID = 0, /* no padding */
    GR_SAME,      /* P = ceil(H / stride) as TensorFlow defines it: an odd row of padding goes to the bottom */
    GR_EXPLICIT   /* as pad[] says */
} gr_padding;

/* How a window moves over an image; convolution and pooling share it. Zero is the usual default. */
typedef struct {
    int stride[2]; /* rows, columns; 0: 1 for convolution, the window's size for pooling */
    gr_padding padding;
    int pad[4]; /* top, bottom, left, right; only with GR_EXPLICIT */
} gr_window;

typedef struct {
    gr_window window;
    bool relu; /* apply max(0, .) to the result in the same pass */
} gr_conv2d_args;

typedef struct {
    int size[2]; /* window rows and columns, at least 1 each, at most 255 elements */
    gr_window window;
} gr_max_pool2d_args;

typedef struct {
    int size[2]; /* window rows and columns, at least 1 each */
    gr_window window;
} gr_avg_pool2d_args;

typedef struct {
    bool relu;
} gr_dense_args;

typedef struct {
    bool relu;
} gr_add_args;

typedef struct {
    double factor;
} gr_factor_args;

typedef struct {
    double smoothing; /* e, from 0 to below 1 */
} gr_cross_entropy_args;

typedef struct {
    double epsilon; /* added to the variance; 0: 1e-5 */
    bool relu;
    double momentum; /* weight of these statistics in those that are tracked; 0: 0.1 */
    int64_t values;  /* per channel, that they are made of; 0: as many as x has */
} gr_batch_norm_args;

/* Mean and variance per channel, [C] each; the variance is the biased one: divided by the number of values. */
typedef struct {
    gr_tensor *mean, *var;
} gr_statistics;

typedef struct {
    gr_conv2d_args conv; /* its relu is implied */
    gr_max_pool2d_args pool;
} gr_conv2d_relu_max_pool_args;

typedef struct {
    float mean[4]; /* per channel, in units of the 0..1 image */
    float std[4];  /* 0: 1 */
} gr_normalise_args;

/* How a picture is read between its pixels. */
typedef enum {
    GR_NEAREST = 0,
    GR_BILINEAR,
    GR_BICUBIC,       /* cubic convolution with a = -1, as PIL's Image.transform has it */
    GR_BICUBIC_RESIZE /* with a = -1/2 and nothing outside the picture: PIL's Image.resize for enlarging, to the bit */
} gr_resampling;

/* What is seen outside a picture. */
typedef enum {
    GR_FILL_ZERO = 0, /* black */
    GR_FILL_EDGE,     /* the nearest pixel of the edge */
    GR_FILL_REFLECT   /* the picture mirrored about the centres of its edge pixels: numpy's "reflect" */
} gr_fill;

enum { GR_MAP = 16 }; /* numbers that say how one picture is augmented */

typedef struct {
    gr_normalise_args normalise;
    int size[2]; /* P and Q of the result; 0: those of x */
    gr_resampling filter;
    gr_fill fill;
} gr_augment_args;

typedef enum { GR_ADAM_KERAS = 0, GR_ADAM_PYTORCH } gr_adam_form;

typedef struct {
    double beta1, beta2; /* in [0, 1); 0: 0.9 and 0.999; GR_ZERO: 0 */
    double epsilon;      /* 0: 1e-7 (Keras) or 1e-8 (PyTorch) */
    gr_adam_form form;   /* KERAS: epsilon beside sqrt(v) before the bias correction; PYTORCH: after it */
    double weight_decay; /* added to the gradient, as torch.optim.Adam does, */
    bool decoupled;      /* or, decoupled, p -= lr decay p beside the step: AdamW, Loshchilov and Hutter 2019 */
} gr_adam_args;

typedef struct {
    double momentum;     /* mu, in [0, 1) */
    double weight_decay; /* coupled */
    double trust;        /* 0: 0.001 */
    double epsilon;      /* beside the norm of the gradient; 0: 1e-9 */
} gr_lars_args;

/* Every operation there is, by number 0 .. gr_op_count() - 1, as the trace names it: "conv2d". NULL beyond. */
int gr_op_count(void);
const char *gr_op_name(int i);

/* y[N,P,Q,K] = x[N,H,W,C] * w[K,R,S,C] + b[K]. b or NULL; args or NULL. */
gr_tensor *gr_conv2d(gr_tensor *x, gr_tensor *w, gr_tensor *b, const gr_conv2d_args *args);

/* y[N,P,Q,C]: the largest element under each window; the first one wins a tie; padding never wins. */
gr_tensor *gr_max_pool2d(gr_tensor *x, const gr_max_pool2d_args *args);

/* max_pool2d(relu(conv2d(x, w, b))) in one pass: the full-size activation never exists. b or NULL. */
gr_tensor *gr_conv2d_relu_max_pool(gr_tensor *x, gr_tensor *w, gr_tensor *b, const gr_conv2d_relu_max_pool_args *args);

/* y[N,out] = x[N,in] w[in,out] + b[out]. b or NULL; args or NULL. */
gr_tensor *gr_dense(gr_tensor *x, gr_tensor *w, gr_tensor *b, const gr_dense_args *args);

/*
 * Batch normalisation (Ioffe and Szegedy 2015) of x[..,C], C last: y = gamma (x - mean) / sqrt(var + epsilon) + beta,
 * then + residual (of x's shape, or NULL), then ReLU if asked. running NULL: mean and variance are the batch's, over
 * all but the last dimension, at least two values per channel. running given: they are taken as they are (inference,
 * frozen statistics). args or NULL. tracked (or NULL) moves towards the statistics that were taken: it += momentum
 * (statistic - it), of the variance the unbiased one, as PyTorch keeps it; not in an update that is skipped.
 */
gr_tensor *gr_batch_norm(gr_tensor *x, gr_tensor *gamma, gr_tensor *beta, gr_tensor *residual,
                         const gr_statistics *running, const gr_batch_norm_args *args, const gr_statistics *tracked);

gr_tensor *gr_relu(gr_tensor *x);    /* max(0, x); any shape. The gradient at 0 is 0. */
gr_tensor *gr_sigmoid(gr_tensor *x); /* 1 / (1 + exp(-x)); any shape */
gr_tensor *gr_tanh(gr_tensor *x);    /* hyperbolic tangent; any shape */
gr_tensor *gr_exp(gr_tensor *x);     /* e^x; any shape */
gr_tensor *gr_log(gr_tensor *x);     /* the natural logarithm; any shape. -infinity at 0, NaN below */
gr_tensor *gr_gelu(gr_tensor *x);    /* x Phi(x), Phi the normal distribution (Hendrycks, Gimpel 2016); exact, by erf */
gr_tensor *gr_silu(gr_tensor *x);    /* x / (1 + exp(-x)), also called swish; any shape */
gr_tensor *gr_flatten(gr_tensor *x); /* [N, H*W*C]; shares the storage of x */

/*
 * Dropout (Srivastava et al. 2014), inverted: an element is 0 with probability rate, otherwise it grows by 1 / (1 -
 * rate), so the mean stays. Which ones depends on the seed, on how many micro-batches have drawn before and how many
 * calls in this one: every call draws anew, a second run the same. rate lies in [0, 1). Any shape.
 */
gr_tensor *gr_dropout(gr_tensor *x, double rate);

gr_tensor *gr_add(gr_tensor *a, gr_tensor *b, const gr_add_args *args); /* a + b of one shape; args or NULL */
gr_tensor *gr_sub(gr_tensor *a, gr_tensor *b);                          /* a - b of one shape: b scaled, then added */
gr_tensor *gr_mul(gr_tensor *a, gr_tensor *b);                          /* a b, element by element, of one shape */
gr_tensor *gr_matmul(gr_tensor *a, gr_tensor *b);                       /* a[m,k] b[k,n]: a dense layer without bias */
gr_tensor *gr_scale(gr_tensor *x, double factor);                       /* factor x; any shape */
gr_tensor *gr_reshape(gr_tensor *x, int ndim, const int64_t *shape);    /* as many elements as x; shares its storage */
gr_tensor *gr_global_avg_pool(gr_tensor *x); /* x[N,H,W,C] -> y[N,C]: the mean of each channel */

/*
 * y[N,P,Q,C]: the mean of the elements under each window that lie in the image. Padding does not count, neither as a
 * zero nor in the divisor: TensorFlow's rule, and PyTorch's with count_include_pad=False.
 */
gr_tensor *gr_avg_pool2d(gr_tensor *x, const gr_avg_pool2d_args *args);

/*
 * Losses from logits: sum_n weight[n] * loss_n / (weight of the update), a scalar. weight[N] or NULL for all ones.
 * A label outside 0..C-1 (0..1 for the binary loss) makes the loss NaN, and the gradient of its sample.
 */
gr_tensor *gr_softmax_cross_entropy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight); /* z[N,C], labels[N] */
gr_tensor *gr_sigmoid_bce(gr_tensor *z, gr_tensor *labels, gr_tensor *weight);           /* z[N,1], labels[N] */

/*
 * Cross-entropy with label smoothing (Szegedy et al. 2016, section 7; torch's label_smoothing): the target is
 * 1 - smoothing + smoothing/C at the label and smoothing/C elsewhere.
 */
gr_tensor *gr_smoothed_cross_entropy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight, double smoothing);

/*
 * factor * sum w^2, a scalar to be added to a loss: Keras' regularizers.l2. Its gradient is scaled as a loss's is, and
 * belongs to an update once, not to each micro-batch.
 */
gr_tensor *gr_l2_penalty(gr_tensor *w, double factor);

/*
 * The mean of (a - b)^2 over all elements, of one shape. It is of this call alone: where a batch comes in micro-
 * batches, scale it by their share.
 */
gr_tensor *gr_mse(gr_tensor *a, gr_tensor *b);

/*
 * Scalars of a whole tensor, of any shape: the sum, the mean, and sqrt(sum x^2), the norm of a slab of gradients. Sum
 * and mean have gradients, scaled as a loss's are: what ends in one of them is a loss.
 */
gr_tensor *gr_sum(gr_tensor *x);
gr_tensor *gr_mean(gr_tensor *x);
gr_tensor *gr_global_norm(gr_tensor *x);

/* Sum of weight[n] over the samples whose class is predicted right: argmax of z[N,C], or z > 0 for z[N,1]. A scalar. */
gr_tensor *gr_accuracy(gr_tensor *z, gr_tensor *labels, gr_tensor *weight);

/*
 * Confusion matrix, real [K,K], K = C or 2 for z[N,1]: element (i, j) is the sum of weight[n] over the samples of label
 * i taken for class j. Samples whose logits hold a NaN or whose label is outside 0..K-1 are counted nowhere.
 */
gr_tensor *gr_confusion(gr_tensor *z, gr_tensor *labels, gr_tensor *weight);

/*
 * x in another type: gr_real(ctx), GR_F16 or GR_BF16, rounded to the nearest, ties to even; what is too large becomes
 * infinite. Any shape; no gradient.
 */
gr_tensor *gr_cast(gr_tensor *x, gr_type type);

/* y[N,H,W,C]: picture index[n] of x[M,H,W,C], both u8, for each n; zeros where index[n] is not one of 0..M-1. */
gr_tensor *gr_gather(gr_tensor *x, gr_tensor *index);

/* y = (x / 255 - mean[c]) / std[c] of u8 images x[N,H,W,C], C at most 4. args or NULL. */
gr_tensor *gr_normalise(gr_tensor *x, const gr_normalise_args *args);

/*
 * Geometry and normalisation of u8 images x[N,H,W,C] in one pass: y[N,P,Q,C], C at most 4, sides at most 16384.
 *
 * map i32 [N,GR_MAP]: an affine map a0 .. a5, then a box. The value of output pixel (p, q) is read at column a0 q + a1
 * p + a2 and row a3 q + a4 p + a5, where pixel i of a picture reaches from i to i + 1: a2 and a5 lead to the centre of
 * output pixel (0, 0). Each is two numbers of the map: a_k = m[2k] + m[2k+1] / 2^32, the second one's bits an unsigned
 * number. What is read is rounded to one of the 256 levels, as PIL does, and so has the same bits on every device; then
 * it is normalised. The box m[12] <= p < m[14], m[13] <= q < m[15], which may reach beyond the picture, is 0 after
 * normalisation (cutout: DeVries and Taylor 2017). args or NULL.
 */
gr_tensor *gr_augment(gr_tensor *x, gr_tensor *map, const gr_augment_args *args);

#ifdef __cplusplus
}
#endif
#endif
