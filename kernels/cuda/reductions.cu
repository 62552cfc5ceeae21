/*
 * reductions.cu - one number of all elements of a tensor.
 *
 *   sum          s = sum_i x[i]             dX[i] = dL loss_scale
 *   mean         s = sum_i x[i] / count     dX[i] = dL loss_scale / count
 *   global_norm  norm = sqrt(sum_i x[i]^2), of a slab of gradients
 *   l2_penalty   loss = factor sum_i w[i]^2     dW[i] = dL loss_scale 2 factor w[i]
 *
 * Launch    one, as tensor_total.cuh cuts it; scratch is a float for each of its blocks. Backward: a thread for four
 *           elements side by side, blocks of 256; dL and loss_scale are read on the device.
 * Order     that of total.cuh.
 * Limit     memory: each element is read once; backward reads and writes it.
 * Range     squares are floats: an element above 1.8e19 makes the norm infinite, which is what an overflow should look
 *           like.
 * Measured  H200, 11.2 million floats, when a launch of its own added the blocks' sums: sum 1.6 TB/s, half of a read's;
 *           global_norm 2.4.
 */
#include "kernels/cuda/tensor_total.cuh"

/* The hooks of the operation name: s = factor sum x, or the sum of squares, or its square root. */
#define REDUCTION(name, squares, factor, root)                                   \
    extern "C" size_t GR_CUDA(name##_scratch)(const gr_call *call, gr_pass pass) \
    {                                                                            \
        return pass == GR_FORWARD ? tensor_total_bytes(call) : 0;                \
    }                                                                            \
    extern "C" void GR_CUDA(name##_forward)(const gr_call *call)                 \
    {                                                                            \
        tensor_total_of(call, squares, factor, root);                            \
    }

REDUCTION(sum, false, 1, false)
REDUCTION(mean, false, 1 / (double)call->in[0]->count, false)
REDUCTION(global_norm, true, 1, true)
REDUCTION(l2_penalty, true, ((const gr_factor_args *)call->options)->factor, false)

/* dx[count], dloss[1] */
static __global__ void spread(float *dx, const float *dloss, double factor, const gr_step_state *state, int64_t count,
                              bool accumulate)
{
    const float slope = (float)(dloss[0] * state->loss_scale * factor);
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(dx, i, count, quad{{slope, slope, slope, slope}}, accumulate);
}

static void spread_of(const gr_call *call, double factor)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH(spread, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->d_in[0]),
                  gr__f32(call->d_out[0]), factor, call->exec->state, count, call->accumulate & 1);
}

extern "C" void GR_CUDA(sum_backward)(const gr_call *call)
{
    spread_of(call, 1);
}

extern "C" void GR_CUDA(mean_backward)(const gr_call *call)
{
    spread_of(call, 1 / (double)call->in[0]->count);
}

/* dw[count], w[count], dloss[1] */
static __global__ void l2_penalty_backward(float *dw, const float *w, const float *dloss, double factor,
                                           const gr_step_state *state, int64_t count, bool accumulate)
{
    const float slope = (float)(dloss[0] * state->loss_scale * 2 * factor);
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(w, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] *= slope;
        quad_store(dw, i, count, v, accumulate);
    }
}

extern "C" void GR_CUDA(l2_penalty_backward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH(l2_penalty_backward, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->d_in[0]),
                  gr__f32(call->in[0]), gr__f32(call->d_out[0]), ((const gr_factor_args *)call->options)->factor,
                  call->exec->state, count, call->accumulate & 1);
}
