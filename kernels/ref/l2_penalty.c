/* l2_penalty.c - reference: loss = factor sum_i w[i]^2, dW[i] = dL 2 factor w[i]. */
#include "kernels/ref/ref.h"

void GR_REF(l2_penalty_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const real *w = reals(call->in[0]); /* [count] */
    wide sum = 0;
    for (int64_t i = 0; i < call->in[0]->count; i++)
        sum += (wide)w[i] * (wide)w[i];
    reals(call->out[0])[0] = (real)(args->factor * sum);
}

void GR_REF(l2_penalty_backward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const wide seed = (wide)reals(call->d_out[0])[0] * call->exec->state->loss_scale;
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, seed * 2 * args->factor * (wide)reals(call->in[0])[i]);
}
