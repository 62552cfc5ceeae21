/*
 * clip_norm.c - front of gradient clipping (Pascanu, Mikolov, Bengio 2013): g of any shape, changed in place; norm, a
 * scalar, is that of all gradients together, of which g may be a part.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

bool gr_clip_norm(gr_tensor *g, gr_tensor *norm, double limit)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_clip_norm], (gr_tensor *[]){g, norm}, &(gr_factor_args){limit},
                      sizeof(gr_factor_args)))
        return false;
    if (!(limit > 0 && isfinite(limit)))
        return gr__op_fail(&call, "a limit of %g; it must be a positive number", limit);
    return gr__check_scalar(&call, 1, "norm") && gr__op_run(&call);
}

double gr__clip_norm_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (double)call->in[0]->count;
}
