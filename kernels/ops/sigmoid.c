/*
 * sigmoid.c - front of y = 1 / (1 + exp(-x)), element by element, any shape. Backward needs y alone.
 */
#include "kernels/ops/kernels.h"

gr_tensor *gr_sigmoid(gr_tensor *x)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_sigmoid], (gr_tensor *[]){x}, NULL, 0) ||
        !gr__op_output(&call, 0, x->ndim, x->shape))
        return NULL;
    return gr__op_run(&call);
}

/* Negate, exponential, add, divide; backward y (1 - y) dy and its addition. */
double gr__sigmoid_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 4.0 * (double)call->in[0]->count;
}
