/*
 * conv2d.c - front of the 2-D convolution (cross-correlation, as in every framework).
 *
 * x[N,H,W,C], w[K,R,S,C], b[K] or none -> y[N,P,Q,K]. With relu, y is clipped at 0 in the same pass. Backward needs x,
 * w and, with relu, y; nothing else is saved.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_conv2d(gr_tensor *x, gr_tensor *w, gr_tensor *b, const gr_conv2d_args *args)
{
    gr_build call;
    if (!gr__begin(&call, conv2d, args, x, w, b))
        return NULL;
    gr_geometry g;
    if (!gr__conv2d_check(&call, &((gr_conv2d_args *)gr__op_args(&call))->window, &g))
        return NULL;
    if (!gr__op_output(&call, 0, 4, (int64_t[]){g.n, g.p, g.q, w->shape[0]}))
        return NULL;
    return gr__op_run(&call);
}

bool gr__conv2d_check(gr_build *call, gr_window *window, gr_geometry *g)
{
    const gr_tensor *x = call->call.in[0], *w = call->call.in[1], *b = call->call.in[2];
    if (x->ndim != 4 || w->ndim != 4)
        return gr__op_fail(call, "x must be images [N,H,W,C] and w filters [K,R,S,C]");
    if (w->shape[3] != x->shape[3])
        return gr__op_fail(call, "the filters have %lld channels, the images %lld; they must agree",
                           (long long)w->shape[3], (long long)x->shape[3]);
    if (b && (b->ndim != 1 || b->shape[0] != w->shape[0]))
        return gr__op_fail(call, "b must have one element for each of the %lld filters", (long long)w->shape[0]);
    *g = gr__geometry(x, w->shape[1], w->shape[2], window, false);
    return gr__check_countable(call, g->n, "images") && gr__check_countable(call, g->h, "rows of pixels") &&
           gr__check_countable(call, g->w, "columns of pixels") && gr__check_countable(call, w->shape[0], "filters") &&
           gr__check_countable(call, g->r * g->s * g->c, "taps of a filter") && gr__window_resolve(call, window, g);
}

/* Two for each multiply-add of forward, dX and dW; one for each bias addition. Work on padding is counted, as usual. */
double gr__conv2d_flops(const gr_call *call, gr_pass pass)
{
    const gr_tensor *w = call->in[1], *y = call->out[0];
    double products = 2.0 * (double)y->count * (double)(w->shape[1] * w->shape[2] * w->shape[3]);
    double bias = call->in[2] ? (double)y->count : 0;
    if (pass == GR_FORWARD)
        return products + bias;
    return (call->d_in[0] ? products : 0) + (call->d_in[1] ? products : 0) + (call->d_in[2] ? bias : 0);
}
