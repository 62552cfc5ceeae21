/* relu.c - reference of ReLU: y = max(0, x), dX = dY [y > 0]. */
#include "kernels/ref/ref.h"

void GR_REF(relu_forward)(const gr_call *call)
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)relu((wide)reals(call->in[0])[i]);
}

void GR_REF(relu_backward)(const gr_call *call)
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, reals(call->out[0])[i] > 0 ? (wide)reals(call->d_out[0])[i] : 0);
}
