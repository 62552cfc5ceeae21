/*
 * l2_penalty.cu - loss = factor sum_i w[i]^2; dW[i] = dL loss_scale 2 factor w[i].
 *
 * Launch    forward: two, as tensor_total.cuh cuts them, with a float of scratch for each block of the first. Backward:
 *           a thread for four elements side by side, blocks of 256; dL and loss_scale are read on the device.
 * Limit     memory: forward reads each element once, backward reads and writes it.
 * Measured  not yet.
 */
#include "kernels/cuda/tensor_total.cuh"

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

extern "C" size_t GR_CUDA(l2_penalty_scratch)(const gr_call *call, gr_pass pass)
{
    return pass == GR_FORWARD ? tensor_total_bytes(call) : 0;
}

extern "C" void GR_CUDA(l2_penalty_forward)(const gr_call *call)
{
    tensor_total_of(call, true, ((const gr_factor_args *)call->options)->factor, false);
}

extern "C" void GR_CUDA(l2_penalty_backward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH(l2_penalty_backward, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->d_in[0]),
                  gr__f32(call->in[0]), gr__f32(call->d_out[0]), ((const gr_factor_args *)call->options)->factor,
                  call->exec->state, count, call->accumulate & 1);
}
