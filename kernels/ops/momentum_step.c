/*
 * momentum_step.c - front of SGD with momentum (Sutskever, Martens, Dahl, Hinton 2013, with PyTorch's place for lr),
 * element by element over a slab; p, g and the velocity v of the same count. lr comes from the step state.
 */
#include "kernels/ops/kernels.h"

static bool check_args(gr_build *b)
{
    const gr_momentum_args *a = gr__op_args(b);
    if (a->momentum > 0 && a->momentum < 1)
        return gr__check_decay(b, a->weight_decay);
    return gr__op_fail(b, "momentum %g; it lies between 0 and 1 (without momentum there is gr_sgd_step)", a->momentum);
}

bool gr_momentum_step(gr_tensor *p, gr_tensor *g, gr_tensor *v, const gr_momentum_args *args)
{
    gr_build call;
    return gr__op_begin(&call, &gr__ops[GR_OP_momentum_step], (gr_tensor *[]){p, g, v}, args, sizeof *args) &&
           check_args(&call) && gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "v") &&
           gr__op_run(&call);
}

double gr__momentum_step_flops(const gr_call *call, gr_pass pass)
{
    const gr_momentum_args *args = call->options;
    (void)pass;
    return (4.0 + (args->nesterov ? 2 : 0) + (args->weight_decay > 0 ? 2 : 0)) * (double)call->in[0]->count;
}
