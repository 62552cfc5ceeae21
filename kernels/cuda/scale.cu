/*
 * scale.cu - y = factor x; dX = factor dY, on any shape.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* y[count], x[count] */
static __global__ void scale(float *y, const float *x, float factor, int64_t count, bool accumulate)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] *= factor;
        quad_store(y, i, count, v, accumulate);
    }
}

static void launch(const gr_call *call, const gr_tensor *y, const gr_tensor *x, bool accumulate)
{
    const gr_factor_args *args = (const gr_factor_args *)call->options;
    GR_LAUNCH(scale, quad_blocks(x->count), QUAD_THREADS, 0, call->exec->queue, gr__f32(y), gr__f32(x), (float)args->factor,
              x->count, accumulate);
}

extern "C" void GR_CUDA(scale_forward)(const gr_call *call)
{
    launch(call, call->out[0], call->in[0], false);
}

extern "C" void GR_CUDA(scale_backward)(const gr_call *call)
{
    if (call->d_in[0])
        launch(call, call->d_in[0], call->d_out[0], call->accumulate & 1);
}
