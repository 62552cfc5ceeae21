/*
 * loss_scaling.c - reference of the loss scale.
 *
 *   unscale     g[i] /= scale; skip = 1 if an element is not finite
 *   overflow    skip = 1 if an element of x is not finite
 *   loss_scale  the end of an update:
 *     skip:      floored += 1 if scale <= floor, else 0;  scale = max(scale/2, floor), clean = 0, skipped += 1
 *     no skip:   floored = 0;  clean += 1; if that makes interval: scale = min(2 scale, ceiling), clean = 0
 *     then       skip = 0
 */
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

void GR_REF(overflow_forward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0];  /* [count] */
    real *scaler = reals(call->in[1]); /* [GR_SCALER_VALUES] */
    for (int64_t i = 0; i < x->count; i++)
        if (!isfinite(number_at(x, i)))
            scaler[GR_SCALER_SKIP] = 1;
}

void GR_REF(loss_scale_forward)(const gr_call *call)
{
    const gr_loss_scale_args *args = call->options;
    real *s = reals(call->in[0]); /* [GR_SCALER_VALUES] */
    const real scale = s[GR_SCALER_SCALE], floor = (real)args->floor, ceiling = (real)args->ceiling;
    if (s[GR_SCALER_SKIP] > 0) {
        s[GR_SCALER_FLOORED] = scale <= floor ? s[GR_SCALER_FLOORED] + 1 : 0;
        s[GR_SCALER_SCALE] = scale / 2 < floor ? floor : scale / 2;
        s[GR_SCALER_CLEAN] = 0;
        s[GR_SCALER_SKIPPED] += 1;
    } else {
        s[GR_SCALER_FLOORED] = 0;
        s[GR_SCALER_CLEAN] += 1;
        if (s[GR_SCALER_CLEAN] >= (real)args->interval) {
            s[GR_SCALER_SCALE] = 2 * scale > ceiling ? ceiling : 2 * scale;
            s[GR_SCALER_CLEAN] = 0;
        }
    }
    s[GR_SCALER_SKIP] = 0;
}
