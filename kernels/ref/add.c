/* add.c - reference: y = a + b, max(0, a + b) if asked; da = db = dY [y > 0], or dY without the ReLU. */
#include "kernels/ref/ref.h"

void GR_REF(add_forward)(const gr_call *call)
{
    const gr_add_args *args = call->options;
    const real *a = reals(call->in[0]), *b = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        const wide sum = (wide)a[i] + (wide)b[i];
        reals(call->out[0])[i] = (real)(args->relu ? relu(sum) : sum);
    }
}

void GR_REF(add_backward)(const gr_call *call)
{
    const gr_add_args *args = call->options;
    for (int slot = 0; slot < 2; slot++)
        for (int64_t i = 0; call->d_in[slot] && i < call->in[0]->count; i++)
            give(call, slot, i, args->relu && !(reals(call->out[0])[i] > 0) ? 0 : (wide)reals(call->d_out[0])[i]);
}
