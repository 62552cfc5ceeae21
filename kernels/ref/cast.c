/* cast.c - reference of cast: through a double, which holds every type's numbers exactly. */
#include "kernels/ref/ref.h"

void GR_REF(cast_forward)(const gr_call *call)
{
    const gr_tensor *y = call->out[0];
    for (int64_t i = 0; i < y->count; i++) {
        const double v = number_at(call->in[0], i);
        if (y->type == GR_F16)
            ((uint16_t *)y->data)[i] = gr__f16_of(v);
        else if (y->type == GR_BF16)
            ((uint16_t *)y->data)[i] = gr__bf16_of(v);
        else
            reals(y)[i] = (real)v;
    }
}
