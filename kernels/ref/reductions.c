/* reductions.c - reference of what makes one number of all elements of a tensor. */
#include "kernels/ref/ref.h"

static wide sum_of(const gr_tensor *x)
{
    wide sum = 0;
    for (int64_t i = 0; i < x->count; i++)
        sum += (wide)reals(x)[i];
    return sum;
}

/* dX[i] = dL factor: what ends in a sum is a loss */
static void spread(const gr_call *call, wide factor)
{
    const wide seed = (wide)reals(call->d_out[0])[0] * call->exec->state->loss_scale;
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, seed * factor);
}

/* s = sum_i x[i] */
void GR_REF(sum_forward)(const gr_call *call)
{
    reals(call->out[0])[0] = (real)sum_of(call->in[0]);
}

void GR_REF(sum_backward)(const gr_call *call)
{
    spread(call, 1);
}

/* s = sum_i x[i] / count */
void GR_REF(mean_forward)(const gr_call *call)
{
    reals(call->out[0])[0] = (real)(sum_of(call->in[0]) / (wide)call->in[0]->count);
}

void GR_REF(mean_backward)(const gr_call *call)
{
    spread(call, 1 / (wide)call->in[0]->count);
}

/* norm = sqrt(sum_i x[i]^2) */
void GR_REF(global_norm_forward)(const gr_call *call)
{
    reals(call->out[0])[0] = (real)sqrt(sum_of_squares(call->in[0]));
}

/* loss = factor sum_i w[i]^2, dW[i] = dL 2 factor w[i] */
void GR_REF(l2_penalty_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    reals(call->out[0])[0] = (real)(args->factor * sum_of_squares(call->in[0]));
}

void GR_REF(l2_penalty_backward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const wide seed = (wide)reals(call->d_out[0])[0] * call->exec->state->loss_scale;
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, seed * 2 * args->factor * (wide)reals(call->in[0])[i]);
}
