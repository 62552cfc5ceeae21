/* sigmoid.c - reference of the logistic function: y = 1 / (1 + exp(-x)), dX = dY y (1 - y). */
#include "kernels/ref/ref.h"

void GR_REF(sigmoid_forward)(const gr_call *call)
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)(1 / (1 + exp(-(wide)reals(call->in[0])[i])));
}

void GR_REF(sigmoid_backward)(const gr_call *call)
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++) {
        wide y = (wide)reals(call->out[0])[i];
        give(call, 0, i, (wide)reals(call->d_out[0])[i] * y * (1 - y));
    }
}
