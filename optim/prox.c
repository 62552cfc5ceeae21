/*
 * prox.c - the conservative mini-batch method (Li, Zhang, Chen, Smola, KDD 2014): an update minimises, in a few steps
 * of gradient descent, the batch's loss plus gamma/2 |w - w0|^2, w0 being the weights before it. The pull to w0 lets a
 * large batch be used for several steps without forgetting the others.
 */
#include <math.h>

#include "optim/optimizer.h"

static bool step(gr_optimizer *opt, const gr_run *run)
{
    return gr_prox_step(run->p, run->g, run->m[0], &(gr_prox_args){.gamma = opt->gamma, .first = opt->pass == 0});
}

static const gr_optimizer_class prox_class = {.moments = 1, .step_run = step};

gr_optimizer *gr_prox(gr_context *ctx, gr_module *net, const gr_prox_options *options)
{
    gr_prox_options o = options ? *options : (gr_prox_options){0};
    if (!gr_ok(ctx))
        return NULL;
    if (!(o.gamma >= 0 && isfinite(o.gamma)) || o.steps < 0) {
        gr__fail(ctx, GR_USAGE, "gr_prox: gamma %g, %d steps; both are positive, or 0 for the default", o.gamma,
                 o.steps);
        return NULL;
    }
    gr_optimizer *opt = gr__optimizer_new(ctx, net, &prox_class, gr__or(o.lr, 0.01));
    if (opt) {
        opt->gamma = gr__or(o.gamma, 1);
        opt->inner = o.steps != 0 ? o.steps : 5;
    }
    return opt;
}
