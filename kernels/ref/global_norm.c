/* global_norm.c - reference: norm = sqrt(sum_i x[i]^2). */
#include "kernels/ref/ref.h"

void GR_REF(global_norm_forward)(const gr_call *call)
{
    const real *x = reals(call->in[0]); /* [count] */
    wide sum = 0;
    for (int64_t i = 0; i < call->in[0]->count; i++)
        sum += (wide)x[i] * (wide)x[i];
    reals(call->out[0])[0] = (real)(sqrt(sum));
}
