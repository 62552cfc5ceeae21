/*
 * dense.c - front of the dense (fully connected) layer.
 *
 * x[N,in], w[in,out], b[out] or none -> y[N,out]. With relu, y is clipped at 0 in the same pass. Backward needs x, w
 * and, with relu, y.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_dense(gr_tensor *x, gr_tensor *w, gr_tensor *b, const gr_dense_args *args)
{
    gr_build call;
    if (!gr__begin(&call, dense, args, x, w, b))
        return NULL;
    if (x->ndim != 2 || w->ndim != 2)
        return gr__op_fail(&call, "x must be rows [N,in] and w weights [in,out]; put gr_flatten before a dense layer");
    if (x->shape[1] != w->shape[0])
        return gr__op_fail(&call, "the rows have %lld features, the weights want %lld; they must agree",
                           (long long)x->shape[1], (long long)w->shape[0]);
    if (b && (b->ndim != 1 || b->shape[0] != w->shape[1]))
        return gr__op_fail(&call, "b must have one element for each of the %lld outputs", (long long)w->shape[1]);
    if (!gr__check_countable(&call, w->shape[0], "features") || !gr__check_countable(&call, w->shape[1], "outputs"))
        return NULL;
    if (!gr__op_output(&call, 0, 2, (int64_t[]){x->shape[0], w->shape[1]}))
        return NULL;
    return gr__op_run(&call);
}

gr_tensor *gr_matmul(gr_tensor *a, gr_tensor *b)
{
    return gr_dense(a, b, NULL, NULL);
}

double gr__dense_flops(const gr_call *call, gr_pass pass)
{
    const gr_tensor *x = call->in[0], *w = call->in[1];
    double products = 2.0 * (double)x->shape[0] * (double)w->count;
    double bias = call->in[2] ? (double)(x->shape[0] * w->shape[1]) : 0;
    if (pass == GR_FORWARD)
        return products + bias;
    return (call->d_in[0] ? products : 0) + (call->d_in[1] ? products : 0) + (call->d_in[2] ? bias : 0);
}
