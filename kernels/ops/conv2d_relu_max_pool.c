/*
 * conv2d_relu_max_pool.c - front of convolution, ReLU and max-pooling in one pass.
 *
 * x[N,H,W,C], w[K,R,S,C], b[K] or none -> y[N,P,Q,K], P and Q those of the pooling. The full-size activation never
 * exists. For backward it saves argmax[N,P,Q,K]: the place in the pooling window of the first maximum, 255 where the
 * maximum is not above 0 and no gradient passes.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_conv2d_relu_max_pool(gr_tensor *x, gr_tensor *w, gr_tensor *b, const gr_conv2d_relu_max_pool_args *args)
{
    gr_build call;
    gr_geometry conv, pool;
    if (!gr__begin(&call, conv2d_relu_max_pool, args, x, w, b))
        return NULL;
    gr_conv2d_relu_max_pool_args *a = gr__op_args(&call);
    if (!gr__conv2d_check(&call, &a->conv.window, &conv))
        return NULL;
    gr_tensor activation = {.ndim = 4, .shape = {conv.n, conv.p, conv.q, w->shape[0]}};
    if (!gr__max_pool2d_check(&call, &activation, &a->pool, &pool))
        return NULL;
    a->conv.relu = true;
    int64_t shape[4] = {pool.n, pool.p, pool.q, pool.c};
    if (!gr__op_output(&call, 0, 4, shape) || !gr__op_output(&call, 1, 4, shape))
        return NULL;
    return gr__op_run(&call);
}

/*
 * Forward: the convolution at every position, ReLU and the pooling's comparisons. Backward: only the positions that won
 * have a gradient, one for each output.
 */
double gr__conv2d_relu_max_pool_flops(const gr_call *call, gr_pass pass)
{
    const gr_conv2d_relu_max_pool_args *args = call->options;
    const gr_tensor *x = call->in[0], *w = call->in[1], *y = call->out[0];
    double products = 2.0 * (double)(w->shape[1] * w->shape[2] * w->shape[3]);
    if (pass == GR_BACKWARD) {
        int wanted = (call->d_in[0] != NULL) + (call->d_in[1] != NULL);
        return (double)y->count * (wanted * products + (call->d_in[2] ? 1 : 0));
    }
    gr_geometry g = gr__geometry(x, w->shape[1], w->shape[2], &args->conv.window, false);
    double positions = (double)(g.n * g.p * g.q) * (double)w->shape[0];
    return positions * (products + (call->in[2] ? 2 : 1)) + (double)y->count * args->pool.size[0] * args->pool.size[1];
}
