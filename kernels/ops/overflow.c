/*
 * overflow.c - front of overflow: an element of x, of any shape and floating-point type, that is not finite sets skip
 * in scaler[GR_SCALER_VALUES]. For what gradients are made of where they are not stored themselves.
 */
#include "kernels/ops/kernels.h"

bool gr_overflow(gr_tensor *x, gr_tensor *scaler)
{
    gr_build call;
    return gr__op_begin(&call, &gr__ops[GR_OP_overflow], (gr_tensor *[]){x, scaler}, NULL, 0) &&
           gr__check_scaler(&call, 1) && gr__op_run(&call);
}

double gr__overflow_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
