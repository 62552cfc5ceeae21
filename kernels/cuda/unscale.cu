/*
 * unscale.cu - g[i] /= scale over a slab of gradients; skip = 1 if one of them is not finite.
 *
 * Launch    a thread for four elements side by side, blocks of 256. The scale is read on the device. Every thread that
 *           finds an infinity or NaN puts the same 1 at the same place, and no thread reads it: the order does not
 *           matter. Threads of several blocks may do so at once, so it is an exchange and no plain store, which would
 *           be a race.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* g[count], scaler[GR_SCALER_VALUES] */
static __global__ void unscale(float *g, float *scaler, int64_t count)
{
    const float factor = 1 / scaler[GR_SCALER_SCALE];
    float finite = 0; /* stays 0: an infinity or NaN times 0 is NaN */
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++) {
            finite += v.at[j] * 0;
            v.at[j] *= factor;
        }
        quad_store(g, i, count, v, false);
    }
    if (!(finite == 0))
        atomicExch(&scaler[GR_SCALER_SKIP], 1.0f);
}

extern "C" void GR_CUDA(unscale_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(unscale, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), count);
}
