/*
 * updates.h - operations of the engine: what optimizers, statistics and the loss scale do to state, and the ladder of
 * matrix products. Not part of gradus.h: they read the numbers of a step (learning rate, number of the update, loss
 * scale) from the step state, which is an optimizer's to write, so that a program that called them alone would change
 * nothing or the wrong thing. The library exports them for `gradus bench`.
 */
#ifndef GRADUS_UPDATES_H
#define GRADUS_UPDATES_H

#include "kernels/ops/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Weight decay, in two ways. Coupled, as in torch.optim.SGD and Adam: decay p is added to the gradient, as the penalty
 * decay/2 sum p^2 would. Decoupled (Loshchilov and Hutter 2019), as in AdamW: p -= lr decay p beside the step. For SGD
 * without momentum both are the same.
 */
typedef struct {
    double weight_decay;
} gr_sgd_args;

typedef struct {
    double momentum; /* mu, in (0, 1) */
    bool nesterov;
    double weight_decay;
    bool decoupled;
} gr_momentum_args;

typedef struct {
    double gamma; /* pull towards the weights before the update, at least 0 */
    bool first;   /* the first step of an update: those are the weights that p holds */
} gr_prox_args;

typedef struct {
    bool finite; /* a loss that is not finite is not added; a last row of total sums the weights of those that are */
} gr_tally_args;

typedef struct {
    double floor;     /* the scale is never below; 0: 1 */
    double ceiling;   /* nor above; 0: 2^24, which lifts the smallest number of an f16 to 1 */
    int64_t interval; /* clean updates after which it doubles; 0: 2000 */
} gr_loss_scale_args;

/*
 * running = next over a whole slab, but in an update that is skipped, for which reason gr_batch_norm moves other
 * statistics than the running ones.
 */
bool gr_batch_norm_commit(gr_tensor *running, gr_tensor *next);

/*
 * Adds the loss of an update, times the update's weight (gr_set_update_weight; 1 where none is set), and k counts to
 * sums kept on the device, real [1+k,2]: a row is a sum and what rounding took from it, to be added by whoever reads
 * it. To be called before the optimizer's step, which forgets the weight. An update that is skipped counts too.
 */
bool gr_tally(gr_tensor *total, gr_tensor *loss, gr_tensor *counts, const gr_tally_args *args);

/* p -= lr (g + decay p) over whole slabs; lr is read from the step state. args or NULL. */
bool gr_sgd_step(gr_tensor *p, gr_tensor *g, const gr_sgd_args *args);

/* SGD with momentum as PyTorch has it: v = mu v + g, p -= lr v; Nesterov's: p -= lr (g + mu v). v starts from zeros. */
bool gr_momentum_step(gr_tensor *p, gr_tensor *g, gr_tensor *v, const gr_momentum_args *args);

/* Adam (Kingma and Ba 2015) over whole slabs: moments m and v of first and second order; lr, t from the step state. */
bool gr_adam_step(gr_tensor *p, gr_tensor *g, gr_tensor *m, gr_tensor *v, const gr_adam_args *args);

/*
 * LARS (You, Gitman, Ginsburg 2017) over one layer's weights: momentum at a rate that the ratio of the weights' norm to
 * the gradient's sets. lr stands where gr_momentum_step has it: outside v.
 */
bool gr_lars_step(gr_tensor *p, gr_tensor *g, gr_tensor *v, const gr_lars_args *args);

/*
 * One step of gradient descent on the conservative mini-batch objective (Li et al., KDD 2014): the batch's loss plus
 * gamma/2 |p - anchor|^2, anchor being the weights at the beginning of the update, which the first step stores. A
 * skipped update, at whichever step, puts them back.
 */
bool gr_prox_step(gr_tensor *p, gr_tensor *g, gr_tensor *anchor, const gr_prox_args *args);

/*
 * Scales g down to the given norm where norm, that of all gradients together, is larger, as torch's clip_grad_norm_
 * does. norm is a scalar on the device (gr_global_norm): the host need not know it.
 */
bool gr_clip_norm(gr_tensor *g, gr_tensor *norm, double limit);

/*
 * v = mu v + g, and the result d = g + mu v, of g's shape: what gr_momentum_step with Nesterov's momentum subtracts. v
 * of a skipped update stays; d is made all the same. NULL on error.
 */
gr_tensor *gr_nesterov_step(gr_tensor *v, gr_tensor *g, double momentum);

/* x, whose norm is the scalar norm (gr_global_norm), is brought to this length; in a skipped update it stays. */
bool gr_unit_norm(gr_tensor *x, gr_tensor *norm, double length);

/*
 * Sharpness-aware minimisation (Foret et al. 2021): climb keeps p in saved and moves it by rho along the gradient, norm
 * being that of all gradients together; return takes it back, to the bit.
 */
bool gr_sam_climb(gr_tensor *p, gr_tensor *g, gr_tensor *norm, gr_tensor *saved, double rho);
bool gr_sam_return(gr_tensor *p, gr_tensor *saved);

/*
 * An exponential moving average of p over a run's updates, to be called behind the step of each: average = d average +
 * (1 - d) p, where d = min(decay, (t - 1) / (t + 8)) and t is the number of applied updates. So average is p after the
 * first update, whatever it was before, and a short run is not the average of its beginning: TensorFlow's
 * ExponentialMovingAverage with num_updates = t - 2. A skipped update changes nothing.
 */
bool gr_ema_step(gr_tensor *average, gr_tensor *p, double decay);

/*
 * Look-ahead's pull (Zhang, Lucas, Hinton, Ba 2019, algorithm 1 with alpha = 1 - decay): slow = decay slow +
 * (1 - decay) p, and p becomes slow. decay lies in [0, 1]. Whether an update is skipped makes no difference.
 */
bool gr_lookahead_step(gr_tensor *slow, gr_tensor *p, double decay);

/*
 * The loss scale's part of an update, on scaler[GR_SCALER_VALUES], the end of the step state: unscale divides gradients
 * by the scale and has the update skipped if one of them is not finite; overflow does so for x, of any floating-point
 * type, and leaves it as it is; loss_scale, at the end of the update, counts, changes the scale and lifts the skip.
 * args or NULL.
 */
bool gr_unscale(gr_tensor *g, gr_tensor *scaler);
bool gr_overflow(gr_tensor *x, gr_tensor *scaler);
bool gr_loss_scale(gr_tensor *scaler, const gr_loss_scale_args *args);

/*
 * A dense layer's whole backward pass with its update in one sweep over w, no dW buffer: from dy[N,out] it returns
 * dx[N,in] (x itself unless want_dx; NULL on failure), writes db[out] (or NULL) and updates w in place, by SGD or Adam.
 * y[N,out] is the layer's result where it ended in ReLU, else NULL. The caller sees to it that nobody else needs dW.
 */
typedef struct {
    gr_tensor *x, *dy, *w, *y, *db;
    bool want_dx;
} gr_dense_update;
gr_tensor *gr_dense_sgd(const gr_dense_update *u);
gr_tensor *gr_dense_adam(const gr_dense_update *u, gr_tensor *m, gr_tensor *v, const gr_adam_args *args);

/*
 * The ladder (kernels/cuda/ladder): one matrix product in several kernels, each with one idea more, on the devices cuda
 * and simt. The name of rung number rung, counted from 0; NULL: there is none.
 */
const char *gr_ladder_rung_name(const gr_context *ctx, int rung);

/* What a rung takes as a and b: GR_F32, or GR_F16 on tensor cores. */
gr_type gr_ladder_rung_type(const gr_context *ctx, int rung);

/* What this device or build lacks for a rung, in words; NULL: nothing. */
const char *gr_ladder_rung_lacks(const gr_context *ctx, int rung);

/*
 * c[m,n] = a[m,k] b[k,n] by one rung, c of floats; time and counters into *event. The upper rungs take whole tiles: m
 * and n multiples of 128 and k of 64 suit all. False: recorded.
 */
bool gr_ladder_run(gr_context *ctx, int rung, gr_tensor *c, const gr_tensor *a, const gr_tensor *b,
                   gr_trace_event *event);

#ifdef __cplusplus
}
#endif
#endif
