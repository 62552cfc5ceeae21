/* scale.c - front of the product with a number: x of any shape -> y of the same. Backward needs nothing. */
#include <math.h>

#include "kernels/ops/kernels.h"

gr_tensor *gr_scale(gr_tensor *x, double factor)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_scale], (gr_tensor *[]){x}, &(gr_factor_args){factor},
                      sizeof(gr_factor_args)))
        return NULL;
    if (!isfinite(factor))
        return gr__op_fail(&call, "factor %g; it must be finite", factor);
    return gr__op_output(&call, 0, x->ndim, x->shape) ? gr__op_run(&call) : NULL;
}

double gr__scale_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
