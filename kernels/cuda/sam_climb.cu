/*
 * sam_climb.cu - saved = p; p += rho g / (norm + 1e-12), over a whole slab, also in an update that is skipped:
 * sam_return undoes it in any case.
 *
 * Launch    a thread for four elements side by side, blocks of 256. The norm is read from the device.
 * Limit     memory: two arrays are read, two are written.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* p[count], g[count], norm[1], saved[count] */
static __global__ void sam_climb(float *p, const float *g, const float *norm, float *saved, float rho, int64_t count)
{
    const float factor = rho / (norm[0] + 1e-12f);
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad weight = quad_load(p, i, count);
        const quad gradient = quad_load(g, i, count);
        quad_store(saved, i, count, weight, false);
        for (int j = 0; j < QUAD; j++)
            weight.at[j] += factor * gradient.at[j];
        quad_store(p, i, count, weight, false);
    }
}

extern "C" void GR_CUDA(sam_climb_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(sam_climb, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), gr__f32(call->in[3]),
              (float)((const gr_factor_args *)call->options)->factor, count);
}
