/* scale.c - reference: y = factor x, dX = factor dY. */
#include "kernels/ref/ref.h"

void GR_REF(scale_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)(args->factor * (wide)reals(call->in[0])[i]);
}

void GR_REF(scale_backward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, args->factor * (wide)reals(call->d_out[0])[i]);
}
