/* l2_penalty.c - front of the squared penalty on weights: w of any shape -> loss, a scalar. Backward needs w. */
#include <math.h>

#include "kernels/ops/kernels.h"

gr_tensor *gr_l2_penalty(gr_tensor *w, double factor)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_l2_penalty], (gr_tensor *[]){w}, &(gr_factor_args){factor},
                      sizeof(gr_factor_args)))
        return NULL;
    if (!isfinite(factor) || factor < 0)
        return gr__op_fail(&call, "factor %g; it must be 0 or a positive number", factor);
    return gr__op_output(&call, 0, 0, NULL) ? gr__op_run(&call) : NULL;
}

double gr__l2_penalty_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 2.0 * (double)call->in[0]->count;
}
