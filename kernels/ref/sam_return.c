/* sam_return.c - reference: p = saved, also in an update that is skipped. */
#include "kernels/ref/ref.h"

void GR_REF(sam_return_forward)(const gr_call *call)
{
    real *p = reals(call->in[0]);           /* [count] */
    const real *saved = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++)
        p[i] = saved[i];
}
