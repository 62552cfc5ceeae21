/* sgd.c - stochastic gradient descent. */
#include "optim/optimizer.h"

static bool step(gr_optimizer *opt, gr_tensor *p, gr_tensor *g, gr_tensor *const *m)
{
    (void)opt, (void)m;
    return gr_sgd_step(p, g);
}

static gr_tensor *dense_step(gr_optimizer *opt, const gr_dense_update *update, gr_tensor *const *m)
{
    (void)opt, (void)m;
    return gr_dense_sgd(update);
}

static const gr_optimizer_class sgd_class = {.moments = 0, .step = step, .dense_step = dense_step};

gr_optimizer *gr_sgd(gr_context *ctx, gr_module *net, const gr_sgd_options *options)
{
    double lr = options && options->lr != 0 ? options->lr : 0.01; /* Keras' default */
    return gr__optimizer_new(ctx, net, &sgd_class, lr);
}
