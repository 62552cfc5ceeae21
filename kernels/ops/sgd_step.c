/*
 * sgd_step.c - front of stochastic gradient descent: p -= lr (g + decay p), element by element over a slab; p and g of
 * the same count. lr comes from the step state.
 */
#include "kernels/ops/kernels.h"

bool gr_sgd_step(gr_tensor *p, gr_tensor *g, const gr_sgd_args *args)
{
    gr_build call;
    return gr__op_begin(&call, &gr__ops[GR_OP_sgd_step], (gr_tensor *[]){p, g}, args, sizeof *args) &&
           gr__check_decay(&call, args ? args->weight_decay : 0) && gr__check_same_count(&call, 1, "g") &&
           gr__op_run(&call);
}

double gr__sgd_step_flops(const gr_call *call, gr_pass pass)
{
    const gr_sgd_args *args = call->options;
    (void)pass;
    return (args->weight_decay > 0 ? 4.0 : 2.0) * (double)call->in[0]->count;
}
