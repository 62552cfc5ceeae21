/* normalise.c - reference: y = (x/255 - mean[c]) / std[c]. */
#include "kernels/ref/ref.h"

void GR_REF(normalise_forward)(const gr_call *call)
{
    const gr_normalise_args *args = call->options;
    const uint8_t *x = gr__u8(call->in[0]); /* [N,H,W,C] */
    const int64_t C = call->in[0]->shape[3];
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)((x[i] / 255.0 - (wide)args->mean[i % C]) / (wide)args->std[i % C]);
}
