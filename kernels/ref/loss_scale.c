/*
 * loss_scale.c - reference of the end of an update:
 *
 *   skip:      floored += 1 if scale <= floor, else 0;  scale = max(scale/2, floor), clean = 0, skipped += 1
 *   no skip:   floored = 0;  clean += 1; if that makes interval: scale = min(2 scale, ceiling), clean = 0
 *   then       skip = 0
 */
#include "kernels/ref/ref.h"

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
