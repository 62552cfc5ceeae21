/*
 * adam_step.c - front of Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1), element
 * by element over a slab; p, g and the moments m and v of the same count. t, the number of applied updates, and lr come
 * from the step state.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

bool gr__adam_resolve(gr_build *b)
{
    gr_adam_args *a = gr__op_args(b);
    a->beta1 = a->beta1 != 0 ? a->beta1 : 0.9;
    a->beta2 = a->beta2 != 0 ? a->beta2 : 0.999;
    a->epsilon = a->epsilon != 0 ? a->epsilon : a->form == GR_ADAM_PYTORCH ? 1e-8 : 1e-7;
    if ((unsigned)a->form > GR_ADAM_PYTORCH)
        return gr__op_fail(b, "form %d; there are GR_ADAM_KERAS and GR_ADAM_PYTORCH", (int)a->form);
    if (!gr__check_decay(b, a->weight_decay))
        return false;
    if (a->beta1 > 0 && a->beta1 < 1 && a->beta2 > 0 && a->beta2 < 1 && a->epsilon > 0 && isfinite(a->epsilon))
        return true;
    return gr__op_fail(b, "beta1 %g, beta2 %g, epsilon %g; betas lie between 0 and 1, epsilon is positive", a->beta1,
                       a->beta2, a->epsilon);
}

bool gr_adam_step(gr_tensor *p, gr_tensor *g, gr_tensor *m, gr_tensor *v, const gr_adam_args *args)
{
    gr_build call;
    return gr__op_begin(&call, &gr__ops[GR_OP_adam_step], (gr_tensor *[]){p, g, m, v}, args, sizeof *args) &&
           gr__adam_resolve(&call) && gr__check_same_count(&call, 1, "g") && gr__check_same_count(&call, 2, "m") &&
           gr__check_same_count(&call, 3, "v") && gr__op_run(&call);
}

/* Two moments (3 + 4), a square root, a division, the sums and products around them. */
double gr__adam_step_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 12.0 * (double)call->in[0]->count;
}
