/*
 * relu.cu - y = max(0, x); dX = dY [y > 0], on any shape.
 *
 * Launch    a thread for four elements side by side, blocks of 256: a warp moves 512 bytes at a time.
 * Limit     memory: forward reads and writes each element once, backward reads two arrays and writes one.
 * NaN       stays NaN: v < 0 is false for it.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* y[count], x[count] */
static __global__ void relu_forward(float *y, const float *x, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] = v.at[j] < 0 ? 0 : v.at[j];
        quad_store(y, i, count, v, false);
    }
}

/* dx[count], y[count], dy[count] */
static __global__ void relu_backward(float *dx, const float *y, const float *dy, int64_t count, bool accumulate)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        const quad result = quad_load(y, i, count);
        quad v = quad_load(dy, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] = result.at[j] > 0 ? v.at[j] : 0;
        quad_store(dx, i, count, v, accumulate);
    }
}

extern "C" void GR_CUDA(relu_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(relu_forward, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->out[0]), gr__f32(call->in[0]),
              count);
}

extern "C" void GR_CUDA(relu_backward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH(relu_backward, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->d_in[0]),
                  gr__f32(call->out[0]), gr__f32(call->d_out[0]), count, call->accumulate & 1);
}
