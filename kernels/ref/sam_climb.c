/*
 * sam_climb.c - reference: saved = p; p += rho g / (norm + 1e-12). Whether the update is skipped does not matter:
 * sam_return undoes it in any case, and which updates are skipped may be known only after the second gradient.
 */
#include "kernels/ref/ref.h"

void GR_REF(sam_climb_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    const wide factor = args->factor / ((wide)reals(call->in[2])[0] + 1e-12);
    real *p = reals(call->in[0]), *saved = reals(call->in[3]); /* [count] */
    const real *g = reals(call->in[1]);                        /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        saved[i] = p[i];
        p[i] = (real)((wide)p[i] + factor * (wide)g[i]);
    }
}
