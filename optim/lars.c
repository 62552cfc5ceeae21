/*
 * lars.c - LARS: each layer's weights at a rate of its own. Biases, scales and shifts keep the common rate and do not
 * decay, as in the large-batch ImageNet runs that the method is known for.
 */
#include <math.h>

#include "optim/optimizer.h"

static bool step(gr_optimizer *opt, const gr_run *run)
{
    const gr_lars_args *a = &opt->lars;
    if (!run->vectors)
        return gr_lars_step(run->p, run->g, run->m[0], a);
    return a->momentum > 0 ? gr_momentum_step(run->p, run->g, run->m[0], &(gr_momentum_args){.momentum = a->momentum})
                           : gr_sgd_step(run->p, run->g, NULL);
}

static const gr_optimizer_class lars_class = {.moments = 1, .by_segment = true, .step_run = step};

static bool check(gr_context *ctx, const gr_lars_args *a)
{
    if (!(a->momentum >= 0 && a->momentum < 1))
        return gr__fail(ctx, GR_USAGE, "gr_lars: momentum %g; it lies in [0, 1)", a->momentum);
    bool good = a->weight_decay >= 0 && isfinite(a->weight_decay) && a->trust >= 0 && isfinite(a->trust) &&
                a->epsilon >= 0 && isfinite(a->epsilon);
    return good ||
           gr__fail(ctx, GR_USAGE,
                    "gr_lars: weight decay %g, trust %g, epsilon %g; none is negative, and 0 means the usual one",
                    a->weight_decay, a->trust, a->epsilon);
}

gr_optimizer *gr_lars(gr_context *ctx, gr_module *net, const gr_lars_options *options)
{
    gr_lars_options o = options ? *options : (gr_lars_options){0};
    if (!gr_ok(ctx) || !check(ctx, &o.lars))
        return NULL;
    gr_optimizer *opt = gr__optimizer_new(ctx, net, &lars_class, gr__or(o.lr, 1));
    if (opt)
        opt->lars = o.lars;
    return opt;
}
