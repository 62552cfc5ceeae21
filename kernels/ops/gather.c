/*
 * gather.c - front of picking pictures from a set on the device.
 *
 * x[M,H,W,C] u8, index[N] -> y[N,H,W,C]: picture index[n] of x for each n; zeros where the index is not one of 0..M-1,
 * which is how padding is asked for.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_gather(gr_tensor *x, gr_tensor *index)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_gather], (gr_tensor *[]){x, index}, NULL, 0))
        return NULL;
    if (x->ndim != 4)
        return gr__op_fail(&call, "x must be pictures [M,H,W,C]");
    if (index->ndim != 1)
        return gr__op_fail(&call, "index must be a vector, one number for each picture of the result");
    const int64_t shape[4] = {index->shape[0], x->shape[1], x->shape[2], x->shape[3]};
    return gr__op_output(&call, 0, 4, shape) ? gr__op_run(&call) : NULL;
}

double gr__gather_flops(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return 0;
}
