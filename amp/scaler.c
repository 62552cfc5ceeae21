/*
 * scaler.c - the loss scale, which lives at the end of the step state on the device: made with the context, read and
 * set by programs, taken out of gradients and moved by optimizers.
 */
#include "amp/scaler.h"

#include <math.h>

#include "amp/amp.h"
#include "amp/mixed.h"
#include "kernels/ops/updates.h"

/*
 * Micikevicius et al. 2018 and PyTorch's GradScaler begin here: too much for most models, and soon halved to what they
 * bear.
 */
#define FIRST_LOSS_SCALE 65536.0f

enum { STUCK = 5 }; /* updates at the floor in a row: one may be an accident of its batch */

bool gr__scaler_open(gr_context *ctx)
{
    char *state = ctx->device_state;
    gr_tensor *scaler = gr__tensor_over(ctx, GR_F32, 1, (int64_t[]){GR_SCALER_VALUES},
                                        state ? state + offsetof(gr_step_state, loss_scale) : NULL);
    ctx->state.loss_scale = FIRST_LOSS_SCALE;
    if (!scaler || !gr__state_write(ctx))
        return false;
    ctx->scaler = scaler; /* from now on the host leaves that end alone */
    return true;
}

gr_scaling gr_loss_scaling(const gr_context *ctx)
{
    gr_scaling s = {.scale = 1};
    float scaler[GR_SCALER_VALUES];
    if (!gr_ok(ctx) || !ctx->scaler || !ctx->scaler->data || !gr_download(ctx->scaler, scaler))
        return s;
    s.scale = (double)scaler[GR_SCALER_SCALE];
    s.skipped = (int64_t)((double)scaler[GR_SCALER_SKIPPED] + ctx->other_skips);
    s.stuck = scaler[GR_SCALER_FLOORED] >= STUCK;
    return s;
}

bool gr_set_loss_scale(gr_context *ctx, double scale)
{
    int exponent;
    if (!gr_ok(ctx))
        return false;
    if (!ctx->scaler)
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

/*
 * The scale belongs to all that is trained in a context. How many updates were skipped does not: it is taken off the
 * number of the update, from which Adam corrects its moments.
 */
bool gr__scaler_take_turn(gr_context *ctx, float *skips)
{
    float scaler[GR_SCALER_VALUES];
    if (!ctx->scaler || ctx->skips == skips || ctx->planning)
        return gr_ok(ctx);
    if (ctx->skips) {
        if (!gr_download(ctx->scaler, scaler))
            return false;
        *ctx->skips = scaler[GR_SCALER_SKIPPED];
        ctx->other_skips += (double)*ctx->skips - (double)*skips;
        scaler[GR_SCALER_SKIPPED] = *skips;
        if (!gr_upload(ctx->scaler, scaler))
            return false;
    }
    ctx->skips = skips;
    return true;
}

bool gr__scaler_unscale(gr_slab *slab)
{
    gr_tensor *scaler = slab->ctx->scaler;
    bool good = true;
    for (int i = 0, end; scaler && good && i < slab->n; i = end + 1) {
        for (end = i; end < slab->n && slab->segments[end].value->grad_written;)
            end++;
        if (end > i)
            good = gr_unscale(gr__slab_gradients(slab, i, end), scaler);
    }
    return good;
}

bool gr__scaler_inspect(gr_tensor *x)
{
    return !x->ctx->scaler || gr_overflow(x, x->ctx->scaler);
}

bool gr__scaler_update(gr_context *ctx)
{
    return !ctx->scaler || gr_loss_scale(ctx->scaler, NULL);
}
