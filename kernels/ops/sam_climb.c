/*
 * sam_climb.c - front of the first half of sharpness-aware minimisation (Foret, Kleiner, Mobahi, Neyshabur 2021,
 * equation 2 with p = 2): p, g and saved of the same count; norm, a scalar, is that of all gradients together.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

bool gr_sam_climb(gr_tensor *p, gr_tensor *g, gr_tensor *norm, gr_tensor *saved, double rho)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_sam_climb], (gr_tensor *[]){p, g, norm, saved}, &(gr_factor_args){rho},
                      sizeof(gr_factor_args)))
        return false;
    if (!(rho > 0 && isfinite(rho)))
        return gr__op_fail(&call, "rho %g; it must be a positive number", rho);
    return gr__check_same_count(&call, 1, "g") && gr__check_scalar(&call, 2, "norm") &&
           gr__check_same_count(&call, 3, "saved") && gr__op_run(&call);
}

double gr__sam_climb_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 2.0 * (double)call->in[0]->count;
}
