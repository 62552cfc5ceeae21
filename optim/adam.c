/* adam.c - Adam, in Keras' form and in PyTorch's; they differ in where epsilon stands (see gr_adam_args). */
#include <math.h>

#include "optim/optimizer.h"

static bool step(gr_optimizer *opt, const gr_run *run)
{
    gr_adam_args args = opt->adam;
    args.weight_decay *= run->decay;
    return gr_adam_step(run->p, run->g, run->m[0], run->m[1], &args);
}

static gr_tensor *dense_step(gr_optimizer *opt, const gr_dense_update *update, gr_tensor *const *m)
{
    return gr_dense_adam(update, m[0], m[1], &opt->adam);
}

static const gr_optimizer_class adam_class = {.moments = 2, .step_run = step, .dense_step = dense_step};

static bool check(gr_context *ctx, const gr_adam_args *a)
{
    bool betas = a->beta1 >= 0 && a->beta1 < 1 && a->beta2 >= 0 && a->beta2 < 1;
    if (!(a->weight_decay >= 0 && isfinite(a->weight_decay)))
        return gr__fail(ctx, GR_USAGE, "gr_adam: weight decay %g; it is 0 or a positive number", a->weight_decay);
    return (betas && isfinite(a->epsilon) && a->epsilon >= 0) ||
           gr__fail(ctx, GR_USAGE, "gr_adam: beta1 %g, beta2 %g, epsilon %g; betas lie in [0, 1), epsilon is positive",
                    a->beta1, a->beta2, a->epsilon);
}

gr_optimizer *gr_adam(gr_context *ctx, gr_module *net, const gr_adam_options *options)
{
    gr_adam_options o = options ? *options : (gr_adam_options){0};
    if (!gr_ok(ctx) || !check(ctx, &o.adam))
        return NULL;
    gr_optimizer *opt = gr__optimizer_new(ctx, net, &adam_class, gr__or(o.lr, 0.001));
    if (opt)
        opt->adam = o.adam;
    return opt;
}
