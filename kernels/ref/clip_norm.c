/* clip_norm.c - reference: g *= min(1, limit / (norm + 1e-6)); a norm that is no number makes no number of g. */
#include "kernels/ref/ref.h"

void GR_REF(clip_norm_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const wide share = args->factor / ((wide)reals(call->in[1])[0] + 1e-6);
    const wide factor = share > 1 ? 1 : share;
    real *g = reals(call->in[0]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++)
        g[i] = (real)(factor * (wide)g[i]);
}
