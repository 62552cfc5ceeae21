/*
 * global_avg_pool.c - front of the mean over each channel of an image: x[N,H,W,C] -> y[N,C]. Backward needs x's shape.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_global_avg_pool(gr_tensor *x)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_global_avg_pool], (gr_tensor *[]){x}, NULL, 0))
        return NULL;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be images [N,H,W,C]");
    if (!gr__op_output(&call, 0, 2, (int64_t[]){x->shape[0], x->shape[3]}))
        return NULL;
    return gr__op_run(&call);
}

double gr__global_avg_pool_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
