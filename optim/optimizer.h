/*
 * optimizer.h - what an optimizer is inside: slabs of moments beside the model's slab of parameters.
 */
#ifndef GRADUS_OPTIMIZER_H
#define GRADUS_OPTIMIZER_H

#include "core/context.h"
#include "core/slab.h"
#include "optim/optim.h"

enum { GR__MAX_MOMENTS = 2 };

/* What kinds of optimizers differ in. */
typedef struct {
    int moments; /* slabs of state it keeps beside the parameters */
    /* One update of the elements of p by g, both 1-D; m: moments. */
    bool (*step)(gr_optimizer *opt, gr_tensor *p, gr_tensor *g, gr_tensor *const *m);
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
    gr_tensor *moments[GR__MAX_MOMENTS]; /* 1-D, laid out as the slab of parameters; made at the first update */
    bool *fused;                         /* by segment: its update was part of this backward pass */
};

/* A new optimizer over a model, owned by ctx. NULL: recorded. */
gr_optimizer *gr__optimizer_new(gr_context *ctx, gr_module *net, const gr_optimizer_class *class, double lr);

/* Makes what the first update needs, counts the update and shows its numbers to the device. False: recorded. */
bool gr__update_begin(gr_optimizer *opt);

/* Updates every parameter that has a gradient and was not fused, then marks all gradients empty. */
bool gr__update_finish(gr_optimizer *opt);

/* Elements from offset on of a 1-D slab, as a tensor of the step in the given shape. NULL: recorded. */
gr_tensor *gr__slab_piece(gr_tensor *slab, int64_t offset, int ndim, const int64_t *shape);

#endif
