/*
 * prox_step.c - front of a step on the conservative objective of a mini-batch (Li, Zhang, Chen, Smola, "Efficient
 * mini-batch training for stochastic optimization", KDD 2014, section 3): p, g and anchor of the same count. lr comes
 * from the step state.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

bool gr_prox_step(gr_tensor *p, gr_tensor *g, gr_tensor *anchor, const gr_prox_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_prox_step], (gr_tensor *[]){p, g, anchor}, args, sizeof *args))
        return false;
    const double gamma = ((gr_prox_args *)gr__op_args(&call))->gamma;
    if (!(gamma >= 0 && isfinite(gamma)))
        return gr__op_fail(&call, "gamma %g; it must be 0 or a positive number", gamma);
    return gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "anchor") && gr__op_run(&call);
}

double gr__prox_step_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 5.0 * (double)call->in[0]->count;
}
