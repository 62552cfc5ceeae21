/*
 * loss_scale.cu - the end of an update for the loss scale: kernels/ref/loss_scale.c has the rule.
 *
 * Launch    one thread: five numbers, which have to stay on the device so that nobody waits for them.
 * Limit     the launch.
 * Measured  not yet.
 */
#include "kernels/cuda/gpu.h"

/* s[GR_SCALER_VALUES] */
static __global__ void loss_scale(float *s, float floor, float ceiling, float interval)
{
    const float scale = s[GR_SCALER_SCALE], clean = s[GR_SCALER_CLEAN] + 1;
    const bool skipped = s[GR_SCALER_SKIP] > 0, grows = !skipped && clean >= interval;
    if (skipped) {
        s[GR_SCALER_SCALE] = scale / 2 < floor ? floor : scale / 2;
        s[GR_SCALER_SKIPPED] += 1;
    } else if (grows) {
        s[GR_SCALER_SCALE] = 2 * scale > ceiling ? ceiling : 2 * scale;
    }
    s[GR_SCALER_FLOORED] = skipped && scale <= floor ? s[GR_SCALER_FLOORED] + 1 : 0;
    s[GR_SCALER_CLEAN] = skipped || grows ? 0 : clean;
    s[GR_SCALER_SKIP] = 0;
}

extern "C" void GR_CUDA(loss_scale_forward)(const gr_call *call)
{
    const gr_loss_scale_args *args = (const gr_loss_scale_args *)call->options;
    GR_LAUNCH(loss_scale, 1, 1, 0, call->exec->queue, gr__f32(call->in[0]), (float)args->floor, (float)args->ceiling,
              (float)args->interval);
}
