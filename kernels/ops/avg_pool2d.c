/* avg_pool2d.c - front of 2-D average pooling: x[N,H,W,C] -> y[N,P,Q,C]. Backward needs x's shape. */
#include "kernels/ops/kernels.h"

gr_tensor *gr_avg_pool2d(gr_tensor *x, const gr_avg_pool2d_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_avg_pool2d], (gr_tensor *[]){x}, args, sizeof *args))
        return NULL;
    gr_avg_pool2d_args *a = gr__op_args(&call);
    gr_geometry g;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C]");
    if (!gr__pool2d_check(&call, x, a->size, &a->window, &g) ||
        !gr__op_output(&call, 0, 4, (int64_t[]){g.n, g.p, g.q, g.c}))
        return NULL;
    return gr__op_run(&call);
}

/* One addition for each element of each window, forward and backward; the division is not counted. */
double gr__avg_pool2d_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    const gr_avg_pool2d_args *args = call->options;
    return (double)call->out[0]->count * args->size[0] * args->size[1];
}
