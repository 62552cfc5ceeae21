/*
 * batch_norm.c - front of batch normalisation.
 *
 * x[..,C], gamma[C], beta[C], residual of x's shape or none, mean[C] and var[C] or neither, tracked mean[C] and var[C]
 * or neither -> y of x's shape. Without mean and var the batch's own are computed and kept for backward. Backward needs
 * x, gamma, the statistics and, with relu, y or, where no residual is in it, beta, by which a kernel can make it again.
 */
#include <math.h>

#include "core/context.h"
#include "core/group/meeting.h"
#include "core/zero.h"
#include "kernels/ops/batch_norm_meeting.h"
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
    if (!in[6] != !in[7])
        return gr__op_fail(b, "tracked statistics are mean and var together, or neither");
    const int64_t channels = x->shape[x->ndim - 1];
    if (!in[4] && !b->ctx->meeting && x->count / channels < 2)
        return gr__op_fail(b, "one value per channel has no variance; use a larger batch or larger images, or leave a "
                              "last batch of one sample out (GR_DROP, --last-batch drop)");
    return check_vector(b, 1, "gamma", channels) && check_vector(b, 2, "beta", channels) &&
           (!in[4] || (check_vector(b, 4, "mean", channels) && check_vector(b, 5, "var", channels))) &&
           (!in[6] || (check_vector(b, 6, "tracked_mean", channels) && check_vector(b, 7, "tracked_var", channels)));
}

static bool resolve(gr_build *b)
{
    gr_batch_norm_args *a = gr__op_args(b);
    a->epsilon = gr__or(a->epsilon, 1e-5);
    a->momentum = gr__or(a->momentum, 0.1);
    a->values = a->values ? a->values : b->call.in[0]->count / b->call.in[1]->count;
    if (!(a->epsilon > 0 && isfinite(a->epsilon)))
        return gr__op_fail(b, "epsilon %g; it must be positive", a->epsilon);
    if (!(a->momentum >= 0 && a->momentum <= 1))
        return gr__op_fail(b, "momentum %g; it must lie in [0, 1]", a->momentum);
    return !b->call.in[6] || b->ctx->meeting || a->values >= 2 ||
           gr__op_fail(b, "%lld values per channel have no variance; there must be 2", (long long)a->values);
}

/* By the statistics of all ranks, which stay on the tape as those given. */
static gr_tensor *run_together(gr_build *b)
{
    gr_call *c = &b->call;
    gr_batch_norm_args *args = gr__op_args(b);
    const int64_t *channels = c->in[1]->shape;
    if (!gr__op_output_as(b, 1, gr_real(b->ctx), 1, channels) ||
        !gr__op_output_as(b, 2, gr_real(b->ctx), 1, channels) || !gr__batch_norm_meet(b))
        return NULL;
    c->in[4] = c->out[1];
    c->in[5] = c->out[2];
    args->values = b->ctx->meeting->values;
    gr_tensor *y = gr__op_run(b);
    if (y && y->node >= 0)
        b->ctx->nodes[y->node]->backward = gr__batch_norm_meet_backward;
    return y;
}

gr_tensor *gr_batch_norm(gr_tensor *x, gr_tensor *gamma, gr_tensor *beta, gr_tensor *residual,
                         const gr_statistics *running, const gr_batch_norm_args *args, const gr_statistics *tracked)
{
    gr_build b;
    const gr_statistics none = {NULL, NULL}, *taken = running ? running : &none, *moved = tracked ? tracked : &none;
    if (!gr__begin(&b, batch_norm, args, x, gamma, beta, residual, taken->mean, taken->var, moved->mean, moved->var) ||
        !check_shapes(&b) || !resolve(&b) || !gr__op_output(&b, 0, x->ndim, x->shape))
        return NULL;
    if (!running && b.ctx->meeting)
        return run_together(&b);
    if (!running && (!gr__op_output(&b, 1, 1, gamma->shape) || !gr__op_output(&b, 2, 1, gamma->shape)))
        return NULL;
    return gr__op_run(&b);
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

double gr__batch_norm_moved(double it, double towards, double momentum)
{
    return it + momentum * (towards - it);
}

bool gr_batch_norm_commit(gr_tensor *running, gr_tensor *next)
{
    gr_build call;
    return gr__begin(&call, batch_norm_commit, NULL, running, next) && gr__check_same_count(&call, 1, "next") &&
           gr__op_run(&call);
}
