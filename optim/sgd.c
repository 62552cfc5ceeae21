/* sgd.c - stochastic gradient descent, with or without momentum. */
#include <math.h>

#include "optim/optimizer.h"

static bool plain_step(gr_optimizer *opt, const gr_run *run)
{
    return gr_sgd_step(run->p, run->g, &(gr_sgd_args){run->decay * opt->sgd.weight_decay});
}

static gr_tensor *dense_step(gr_optimizer *opt, const gr_dense_update *update, gr_tensor *const *m)
{
    (void)opt, (void)m;
    return gr_dense_sgd(update);
}

static bool momentum_step(gr_optimizer *opt, const gr_run *run)
{
    gr_momentum_args args = opt->sgd;
    args.weight_decay *= run->decay;
    return gr_momentum_step(run->p, run->g, run->m[0], &args);
}

/* There is no dense layer's update fused with momentum or decay: what is trained so here has small ones. */
static const gr_optimizer_class bare_class = {.moments = 0, .step_run = plain_step, .dense_step = dense_step};
static const gr_optimizer_class decay_class = {.moments = 0, .step_run = plain_step};
static const gr_optimizer_class momentum_class = {.moments = 1, .step_run = momentum_step};

static bool check(gr_context *ctx, const gr_sgd_options *o)
{
    if (!(o->momentum >= 0 && o->momentum < 1))
        return gr__fail(ctx, GR_USAGE, "gr_sgd: momentum %g; it lies in [0, 1)", o->momentum);
    if (o->nesterov && o->momentum == 0)
        return gr__fail(ctx, GR_USAGE,
                        "gr_sgd: Nesterov's step without momentum is a plain one; give a momentum, such as 0.9");
    return (o->weight_decay >= 0 && isfinite(o->weight_decay)) ||
           gr__fail(ctx, GR_USAGE, "gr_sgd: weight decay %g; it is 0 or a positive number", o->weight_decay);
}

gr_optimizer *gr_sgd(gr_context *ctx, gr_module *net, const gr_sgd_options *options)
{
    gr_sgd_options o = options ? *options : (gr_sgd_options){0};
    if (!gr_ok(ctx) || !check(ctx, &o))
        return NULL;
    const gr_optimizer_class *class = o.momentum > 0       ? &momentum_class
                                      : o.weight_decay > 0 ? &decay_class
                                                           : &bare_class;
    gr_optimizer *opt = gr__optimizer_new(ctx, net, class, gr__or(o.lr, 0.01)); /* Keras' default */
    if (opt)
        opt->sgd = (gr_momentum_args){.momentum = o.momentum, .nesterov = o.nesterov, .weight_decay = o.weight_decay};
    return opt;
}
