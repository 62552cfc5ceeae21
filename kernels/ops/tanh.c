/* tanh.c - front of the hyperbolic tangent, element by element, any shape. Backward needs y alone. */
#include "kernels/ops/kernels.h"

gr_tensor *gr_tanh(gr_tensor *x)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_tanh], (gr_tensor *[]){x}, NULL, 0) ||
        !gr__op_output(&call, 0, x->ndim, x->shape))
        return NULL;
    return gr__op_run(&call);
}

/* By one exponential e = exp(2x): (e - 1) / (e + 1), the doubling included; backward (1 - y y) dy and its addition. */
double gr__tanh_flops(const gr_call *call, gr_pass pass)
{
    return (pass == GR_FORWARD ? 5.0 : 4.0) * (double)call->in[0]->count;
}
