/* reductions.c - fronts of what becomes one number: x of any shape -> a scalar. */
#include <math.h>

#include "kernels/ops/kernels.h"

static gr_tensor *scalar(gr_build *call)
{
    return gr__op_output(call, 0, 0, NULL) ? gr__op_run(call) : NULL;
}

/* The squared penalty on weights. Backward needs w. */
gr_tensor *gr_l2_penalty(gr_tensor *w, double factor)
{
    gr_build call;
    if (!gr__begin(&call, l2_penalty, &(gr_factor_args){factor}, w))
        return NULL;
    if (!isfinite(factor) || factor < 0)
        return gr__op_fail(&call, "factor %g; it must be 0 or a positive number", factor);
    return scalar(&call);
}

gr_tensor *gr_mse(gr_tensor *a, gr_tensor *b)
{
    gr_tensor *difference = gr_sub(a, b);
    return difference ? gr_l2_penalty(difference, 1 / (double)difference->count) : NULL;
}

/* The sum of all elements. */
gr_tensor *gr_sum(gr_tensor *x)
{
    gr_build call;
    return gr__begin(&call, sum, NULL, x) ? scalar(&call) : NULL;
}

/* The mean of all elements. */
gr_tensor *gr_mean(gr_tensor *x)
{
    gr_build call;
    return gr__begin(&call, mean, NULL, x) ? scalar(&call) : NULL;
}

/* The Euclidean norm over all elements, of a slab of gradients. */
gr_tensor *gr_global_norm(gr_tensor *x)
{
    gr_build call;
    return gr__begin(&call, global_norm, NULL, x) ? scalar(&call) : NULL;
}
