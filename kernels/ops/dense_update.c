/*
 * dense_update.c - fronts of dense_sgd and dense_adam: a dense layer's backward pass and its update in one sweep over
 * w.
 *
 * x[N,in], dy[N,out], w[in,out] (changed in place), y[N,out] where the layer ended in ReLU -> dx[N,in] computed from
 * the old w, db[out] written, no dW anywhere.
 */
#include "kernels/ops/kernels.h"

static bool check(gr_build *call, const gr_dense_update *u)
{
    if (u->x->ndim != 2 || u->w->ndim != 2 || u->dy->ndim != 2)
        return gr__op_fail(call, "x, dy and w must be matrices [N,in], [N,out] and [in,out]");
    int64_t n = u->x->shape[0], in = u->w->shape[0], out = u->w->shape[1];
    if (u->x->shape[1] != in || u->dy->shape[0] != n || u->dy->shape[1] != out)
        return gr__op_fail(call, "x must be [N,%lld] and dy [N,%lld] with the same N", (long long)in, (long long)out);
    if (u->y && (u->y->ndim != 2 || u->y->shape[0] != n || u->y->shape[1] != out))
        return gr__op_fail(call, "y must have the shape of dy");
    if (u->db && (u->db->type != u->w->type || u->db->count != out))
        return gr__op_fail(call, "db must have one element for each of the %lld outputs", (long long)out);
    return gr__check_countable(call, in, "features") && gr__check_countable(call, out, "outputs");
}

/* Outputs, then the kernel. db is the caller's buffer. */
static gr_tensor *run(gr_build *call, const gr_dense_update *u)
{
    call->call.out[1] = u->db;
    if (u->want_dx && !gr__op_output(call, 0, 2, u->x->shape))
        return NULL;
    return gr__op_run(call);
}

gr_tensor *gr_dense_sgd(const gr_dense_update *u)
{
    gr_build call;
    if (!gr__begin(&call, dense_sgd, NULL, u->x, u->dy, u->w, u->y) || !check(&call, u))
        return NULL;
    return run(&call, u);
}

gr_tensor *gr_dense_adam(const gr_dense_update *u, gr_tensor *m, gr_tensor *v, const gr_adam_args *args)
{
    gr_build call;
    if (!gr__begin(&call, dense_adam, args, u->x, u->dy, u->w, u->y, m, v) || !check(&call, u) ||
        !gr__adam_resolve(&call))
        return NULL;
    if (m->count != u->w->count || v->count != u->w->count)
        return gr__op_fail(&call, "the moments must have as many elements as w");
    return run(&call, u);
}

/* The products of dW and, where it is wanted, of dX; and the step of each weight. */
double gr__dense_update_flops(const gr_call *call, double step)
{
    const double weights = (double)call->in[2]->count, products = 2.0 * (double)call->in[0]->shape[0] * weights;
    return (call->out[0] ? 2 * products : products) + step * weights;
}
