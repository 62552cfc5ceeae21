/*
 * clip_norm.cu - g *= min(1, limit / (norm + 1e-6)), over a whole slab; a norm that is no number makes no number of g.
 *
 * Launch    a thread for four elements side by side, blocks of 256. The norm is read from the device.
 * Limit     memory: each element is read and written once, where the norm is above the limit.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* g[count], norm[1] */
static __global__ void clip_norm(float *g, const float *norm, float limit, int64_t count)
{
    const float share = limit / (norm[0] + 1e-6f);
    const int64_t end = share >= 1 ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad v = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] *= share;
        quad_store(g, i, count, v, false);
    }
}

extern "C" void GR_CUDA(clip_norm_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(clip_norm, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), (float)((const gr_factor_args *)call->options)->factor, count);
}
