/*
 * lars_step.c - front of LARS (You, Gitman, Ginsburg, "Large batch training of convolutional networks", 2017): one
 * layer's weights p, their gradient g and the velocity v, of the same count. lr comes from the step state.
 *
 * The paper keeps lr inside v. Here, as in PyTorch's momentum, it stands outside: the same while lr is constant.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

static bool resolve(gr_build *b)
{
    gr_lars_args *a = gr__op_args(b);
    a->trust = a->trust != 0 ? a->trust : 0.001;
    a->epsilon = a->epsilon != 0 ? a->epsilon : 1e-9;
    if (!(a->momentum >= 0 && a->momentum < 1))
        return gr__op_fail(b, "momentum %g; it lies in [0, 1)", a->momentum);
    if (!(a->trust > 0 && isfinite(a->trust) && a->epsilon > 0 && isfinite(a->epsilon)))
        return gr__op_fail(b, "trust %g, epsilon %g; both are positive numbers", a->trust, a->epsilon);
    return gr__check_decay(b, a->weight_decay);
}

bool gr_lars_step(gr_tensor *p, gr_tensor *g, gr_tensor *v, const gr_lars_args *args)
{
    gr_build call;
    return gr__op_begin(&call, &gr__ops[GR_OP_lars_step], (gr_tensor *[]){p, g, v}, args, sizeof *args) &&
           resolve(&call) && gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "v") &&
           gr__op_run(&call);
}

/* Two sums of squares, then decay, ratio, momentum and step. */
double gr__lars_step_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 11.0 * (double)call->in[0]->count;
}
