/* cast.c - reference of cast: through a double, which holds every type's numbers exactly. */
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

void GR_REF(cast_forward)(const gr_call *call)
{
    const gr_tensor *y = call->out[0];
    for (int64_t i = 0; i < y->count; i++) {
        const double v = value(call->in[0], i);
        if (y->type == GR_F16)
            ((uint16_t *)y->data)[i] = gr__f16_of(v);
        else if (y->type == GR_BF16)
            ((uint16_t *)y->data)[i] = gr__bf16_of(v);
        else
            reals(y)[i] = (real)v;
    }
}
