/*
 * unscale.c - front of unscale: gradients g, of any shape, divided by the loss scale in scaler[GR_SCALER_VALUES]. One
 * that is not finite sets skip there; nothing else does, so a slab may be unscaled in several pieces.
 */
#include "kernels/ops/kernels.h"

bool gr_unscale(gr_tensor *g, gr_tensor *scaler)
{
    gr_build call;
    return gr__op_begin(&call, &gr__ops[GR_OP_unscale], (gr_tensor *[]){g, scaler}, NULL, 0) &&
           gr__check_scaler(&call, 1) && gr__op_run(&call);
}

double gr__unscale_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
