/*
 * sgd_step.cu - p -= lr (g + decay p), over a whole slab.
 *
 * Launch    a thread for four elements side by side, blocks of 256. lr and skip are read from the step state, so a
 *           captured graph stays valid when they change.
 * Limit     memory: two arrays are read, one is written.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* p[count], g[count] */
static __global__ void sgd_step(float *p, const float *g, float decay, const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr;
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad v = quad_load(p, i, count);
        const quad grad = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] -= lr * (grad.at[j] + decay * v.at[j]);
        quad_store(p, i, count, v, false);
    }
}

extern "C" void GR_CUDA(sgd_step_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(sgd_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), (float)((const gr_sgd_args *)call->options)->weight_decay, call->exec->state,
              count);
}
