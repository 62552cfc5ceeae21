/*
 * tanh.c - reference of the hyperbolic tangent: dX = dY (1 - y^2), with the difference as a product, which is exact
 * near 1.
 */
#include "kernels/ref/ref.h"

void GR_REF(tanh_forward)(const gr_call *call)
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)tanh((wide)reals(call->in[0])[i]);
}

void GR_REF(tanh_backward)(const gr_call *call)
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++) {
        wide y = (wide)reals(call->out[0])[i];
        give(call, 0, i, (wide)reals(call->d_out[0])[i] * (1 - y) * (1 + y));
    }
}
