/*
 * batch_norm.c - front of batch normalisation.
 *
 * x[..,C], gamma[C], beta[C], residual of x's shape or none, mean[C] and var[C] or neither -> y of x's shape. Without
 * mean and var the batch's own are computed and kept for backward. Backward needs x, gamma, the statistics and, with
 * relu, y.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

static bool check_vector(gr_build *b, int slot, const char *name, int64_t channels)
{
    const gr_tensor *t = b->call.in[slot];
    if (t->ndim == 1 && t->shape[0] == channels)
        return true;
    return gr__op_fail(b, "%s must have one element for each of the %lld channels", name, (long long)channels);
}

static bool check_shapes(gr_build *b)
{
    gr_tensor *const *in = b->call.in;
    const gr_tensor *x = in[0];
    if (x->ndim < 2)
        return gr__op_fail(b, "x must be [N,..,C]");
    if (in[3] && !gr__check_same_shape(b, 3, "residual"))
        return false;
    if (!in[4] != !in[5])
        return gr__op_fail(b, "running statistics are mean and var together, or neither");
    const int64_t channels = x->shape[x->ndim - 1];
    if (!in[4] && x->count / channels < 2)
        return gr__op_fail(b, "one value per channel has no variance; use a larger batch or larger images");
    return check_vector(b, 1, "gamma", channels) && check_vector(b, 2, "beta", channels) &&
           (!in[4] || (check_vector(b, 4, "mean", channels) && check_vector(b, 5, "var", channels)));
}

static bool resolve(gr_build *b)
{
    gr_batch_norm_args *a = gr__op_args(b);
    a->epsilon = a->epsilon != 0 ? a->epsilon : 1e-5;
    return (a->epsilon > 0 && isfinite(a->epsilon)) || gr__op_fail(b, "epsilon %g; it must be positive", a->epsilon);
}

gr_tensor *gr_batch_norm(gr_tensor *x, gr_tensor *gamma, gr_tensor *beta, gr_tensor *residual,
                         const gr_statistics *running, const gr_batch_norm_args *args, gr_statistics *batch)
{
    gr_build call;
    gr_tensor *mean = running ? running->mean : NULL, *var = running ? running->var : NULL;
    if (batch)
        *batch = (gr_statistics){0};
    if (!gr__op_begin(&call, &gr__ops[GR_OP_batch_norm], (gr_tensor *[]){x, gamma, beta, residual, mean, var}, args,
                      sizeof *args) ||
        !check_shapes(&call) || !resolve(&call) || !gr__op_output(&call, 0, x->ndim, x->shape))
        return NULL;
    const int64_t *channels = &x->shape[x->ndim - 1];
    if (!running && (!gr__op_output(&call, 1, 1, channels) || !gr__op_output(&call, 2, 1, channels)))
        return NULL;
    if (batch)
        *batch = (gr_statistics){call.call.out[1], call.call.out[2]};
    return gr__op_run(&call);
}

/* Forward: mean (1), variance (3), scale and shift (2), residual and ReLU. Backward: two sums (4), dx (5). */
double gr__batch_norm_flops(const gr_call *call, gr_pass pass)
{
    const gr_batch_norm_args *args = call->options;
    const double count = (double)call->in[0]->count;
    const bool own = !call->in[4];
    if (pass == GR_FORWARD)
        return count * ((own ? 6 : 2) + (call->in[3] ? 1 : 0) + (args->relu ? 1 : 0));
    const bool sums = call->d_in[1] || call->d_in[2] || (own && call->d_in[0]);
    return count * ((sums ? 4 : 0) + (call->d_in[0] ? (own ? 5 : 1) : 0) + (args->relu ? 1 : 0));
}
