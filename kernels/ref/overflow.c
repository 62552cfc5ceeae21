/* overflow.c - reference: skip = 1 if an element of x is not finite. */
#include "core/half.h"
#include "kernels/ref/ref.h"

static double value(const gr_tensor *t, int64_t i)
{
    if (t->type == GR_F16)
        return gr__f16_value(((const uint16_t *)t->data)[i]);
    if (t->type == GR_BF16)
        return gr__bf16_value(((const uint16_t *)t->data)[i]);
    return (double)reals(t)[i];
}

void GR_REF(overflow_forward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0];  /* [count] */
    real *scaler = reals(call->in[1]); /* [GR_SCALER_VALUES] */
    for (int64_t i = 0; i < x->count; i++)
        if (!isfinite(value(x, i)))
            scaler[GR_SCALER_SKIP] = 1;
}
