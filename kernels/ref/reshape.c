/* reshape.c - reference of reshape: a copy; the engine avoids it by sharing storage wherever it can. */
#include "kernels/ref/ref.h"

void GR_REF(reshape_forward)(const gr_call *call)
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = reals(call->in[0])[i];
}

void GR_REF(reshape_backward)(const gr_call *call)
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, (wide)reals(call->d_out[0])[i]);
}
