/* mean.c - reference: s = sum_i x[i] / count. */
#include "kernels/ref/ref.h"

void GR_REF(mean_forward)(const gr_call *call)
{
    const real *x = reals(call->in[0]); /* [count] */
    wide sum = 0;
    for (int64_t i = 0; i < call->in[0]->count; i++)
        sum += (wide)x[i];
    reals(call->out[0])[0] = (real)(sum / (wide)call->in[0]->count);
}
