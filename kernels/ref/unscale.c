/* unscale.c - reference: g[i] /= scale; skip = 1 if an element is not finite. */
#include "kernels/ref/ref.h"

void GR_REF(unscale_forward)(const gr_call *call)
{
    real *g = reals(call->in[0]);      /* [count] */
    real *scaler = reals(call->in[1]); /* [GR_SCALER_VALUES] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        if (!isfinite(g[i]))
            scaler[GR_SCALER_SKIP] = 1;
        g[i] = (real)((wide)g[i] / (wide)scaler[GR_SCALER_SCALE]);
    }
}
