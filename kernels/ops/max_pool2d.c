/*
 * max_pool2d.c - front of 2-D max-pooling.
 *
 * x[N,H,W,C] -> y[N,P,Q,C]. For backward it saves argmax[N,P,Q,C]: the place r*S+s in the window of the first maximum,
 * one byte an output, so neither x nor y is needed again.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_max_pool2d(gr_tensor *x, const gr_max_pool2d_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_max_pool2d], (gr_tensor *[]){x}, args, sizeof *args))
        return NULL;
    gr_geometry g;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C]");
    if (!gr__max_pool2d_check(&call, x, gr__op_args(&call), &g))
        return NULL;
    int64_t shape[4] = {g.n, g.p, g.q, g.c};
    if (!gr__op_output(&call, 0, 4, shape) || !gr__op_output(&call, 1, 4, shape))
        return NULL;
    return gr__op_run(&call);
}

bool gr__max_pool2d_check(gr_build *call, const gr_tensor *x, gr_max_pool2d_args *args, gr_geometry *g)
{
    int r = args->size[0], s = args->size[1];
    if (r < 1 || s < 1 || (int64_t)r * s > 255)
        return gr__op_fail(call, "a pooling window of %d x %d; it must have 1 to 255 elements", r, s);
    return gr__pool2d_check(call, x, args->size, &args->window, g);
}

/* One comparison for each element of each window; backward moves one element for each output. */
double gr__max_pool2d_flops(const gr_call *call, gr_pass pass)
{
    const gr_max_pool2d_args *args = call->options;
    double outputs = (double)call->out[0]->count;
    return pass == GR_FORWARD ? outputs * args->size[0] * args->size[1] : outputs;
}
