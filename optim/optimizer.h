/*
 * optimizer.h - what an optimizer is inside: slabs of moments beside the model's slab of parameters.
 */
#ifndef GRADUS_OPTIMIZER_H
#define GRADUS_OPTIMIZER_H

#include "core/context.h"
#include "core/slab.h"
#include "core/zero.h"
#include "kernels/ops/updates.h"
#include "optim/optim.h"

enum { GR__MAX_MOMENTS = 2, GR__AVERAGES = 2 };

/* Parameters that lie side by side and are treated alike. */
typedef struct {
    gr_tensor *p, *g, *m[GR__MAX_MOMENTS]; /* 1-D, of the same count */
    int first;                             /* its first parameter */
    bool vectors;                          /* biases, and scales and shifts of batch normalisation */
    double decay;                          /* how much of the weight decay applies */
} gr_run;

/* What a fused update of a dense layer's weights will be made of that waits for the end of the backward pass. */
typedef struct {
    gr_tensor *x, *dy, *y; /* all NULL: there is none; y NULL: the layer does not end in ReLU */
} gr_fused;

/* What kinds of optimizers differ in. */
typedef struct {
    int moments;     /* slabs of state it keeps beside the parameters */
    bool by_segment; /* a run is one parameter */
    /* One update of a run. */
    bool (*step_run)(gr_optimizer *opt, const gr_run *run);
    /* The same fused with a dense layer's backward pass; returns as gr_dense_sgd does. NULL: there is none. */
    gr_tensor *(*dense_step)(gr_optimizer *opt, const gr_dense_update *update, gr_tensor *const *m);
} gr_optimizer_class;

struct gr_optimizer {
    gr_context *ctx;
    gr_module *net;
    const gr_optimizer_class *class;
    double lr;
    gr_momentum_args sgd;
    gr_adam_args adam;
    gr_lars_args lars;
    gr_muon_options muon;
    double gamma; /* of the conservative objective */
    int inner;    /* steps on one batch's objective; 1 for others */
    bool decay_weights_only;
    double clip;         /* the norm that gradients may have together; 0: any */
    double rho;          /* of sharpness-aware minimisation; 0: none */
    gr_tensor *saved;    /* the weights before the climb */
    int pass;            /* of this update, from 0 */
    int64_t updates;     /* begun so far */
    double *lr_scale;    /* by parameter: how much of the rate is its own; NULL: all of it, of every one */
    double *decay_scale; /* the same of the weight decay */
    float skips;         /* of them skipped, while the step state counts another optimizer's */
    bool *later;         /* by parameter: it stays as it is from where later_begun; NULL: none does */
    bool later_begun;
    gr_lookahead lookahead;
    int64_t lookahead_start;             /* the update behind which its decay grows */
    int64_t lookahead_end;               /* the one at which it has grown; 0: nobody has told */
    gr_tensor *slow[GR__AVERAGES];       /* its copies, laid out as average */
    double ema;                          /* decay of the averages of weights; 0: there are none */
    bool averaged;                       /* the model holds them, and average[] the weights */
    gr_tensor *average[GR__AVERAGES];    /* 1-D, laid out as the slabs that ema.h names; made at the first update */
    gr_tensor *moments[GR__MAX_MOMENTS]; /* 1-D, laid out by state_offset; made at the first update */
    gr_fused *fused;                     /* by segment, of this backward pass */
};

/* A new optimizer over a model, owned by ctx. NULL: recorded. */
gr_optimizer *gr__optimizer_new(gr_context *ctx, gr_module *net, const gr_optimizer_class *class, double lr);

/*
 * Makes what the optimizer keeps beside the model's parameters, which must be there. Does nothing from the second time
 * on. False: recorded.
 */
bool gr__optimizer_prepare(gr_optimizer *opt);

/* Of a prepared optimizer: counts the update at its first pass and shows its numbers to the device. False: recorded. */
bool gr__update_begin(gr_optimizer *opt);

/* gr_minimize of a prepared optimizer. */
bool gr__minimize(gr_optimizer *opt, gr_tensor *loss);

/*
 * Ends a pass: climbs, or updates every parameter that has a gradient and was not fused; then marks the model's
 * gradients empty. The last pass ends the update.
 */
bool gr__update_finish(gr_optimizer *opt);

/* Norm of all gradients together, a scalar on the device; every parameter must have one. NULL: recorded. */
gr_tensor *gr__gradient_norm(gr_optimizer *opt);

/*
 * Parameters whose names match are frozen while later_begun is set, which it is not yet; NULL: none are. False:
 * recorded.
 */
bool gr__freeze_later(gr_optimizer *opt, const char *patterns);

/*
 * How much of the rate parameter i learns at, and of the decay it has; 1 unless gr_set_lr_scale, gr_set_decay_scale. A
 * rate of 0: it is frozen by now.
 */
double gr__lr_scale(const gr_optimizer *opt, int i);
double gr__decay_scale(const gr_optimizer *opt, int i);

/* Updates every parameter that has a gradient, or of whose layer what it will be made of was kept. False: recorded. */
bool gr__step_parameters(gr_optimizer *opt);

/* Updates parameter i, whose share of the rate is 1, by its gradient g, 1-D. False: recorded. */
bool gr__step_segment(gr_optimizer *opt, int i, gr_tensor *g);

/* The update of a dense layer's weights, a segment of the model's, with as much of its backward pass as u asks for. */
gr_tensor *gr__dense_step(gr_optimizer *opt, const gr_dense_update *u);

#endif
