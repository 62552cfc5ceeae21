/* scaler.c - reading and setting the loss scale, which lives in the step state on the device. */
#include <math.h>

#include "amp/amp.h"
#include "core/context.h"

enum { STUCK = 5 }; /* updates at the floor in a row: one may be an accident of its batch */

gr_scaling gr_loss_scaling(const gr_context *ctx)
{
    gr_scaling s = {.scale = 1};
    float scaler[GR_SCALER_VALUES];
    if (!gr_ok(ctx) || !ctx->scaled || !ctx->scaler->data || !gr_download(ctx->scaler, scaler))
        return s;
    s.scale = (double)scaler[GR_SCALER_SCALE];
    s.skipped = (int64_t)scaler[GR_SCALER_SKIPPED];
    s.stuck = scaler[GR_SCALER_FLOORED] >= STUCK;
    return s;
}

bool gr_set_loss_scale(gr_context *ctx, double scale)
{
    int exponent;
    if (!gr_ok(ctx))
        return false;
    if (!ctx->scaled)
        return gr__fail(ctx, GR_USAGE,
                        "gr_set_loss_scale: there is a loss scale only with the precision GR_PRECISION_FP16");
    if (!(scale > 0 && scale <= 0x1p24) || frexp(scale, &exponent) != 0.5)
        return gr__fail(ctx, GR_USAGE, "gr_set_loss_scale: %g; it must be a power of two, at most 2^24", scale);
    float scaler[GR_SCALER_VALUES];
    if (!ctx->scaler->data)
        return true; /* plan_only */
    if (!gr_download(ctx->scaler, scaler))
        return false;
    scaler[GR_SCALER_SCALE] = (float)scale;
    scaler[GR_SCALER_CLEAN] = scaler[GR_SCALER_FLOORED] = 0;
    return gr_upload(ctx->scaler, scaler);
}
