/*
 * batch_norm_running.cu - the running statistics of batch normalisation.
 *
 *   batch_norm_commit, over a whole slab, unless the update is skipped
 *     running = next
 *
 * Launch    a thread for four channels side by side, blocks of 256. skip is read from the step state.
 * Limit     the launch: a few kilobytes.
 * Measured  H200: 10 us, a launch's.
 */
#include "kernels/cuda/quad.cuh"

/* running[count], next[count] */
static __global__ void batch_norm_commit(float *running, const float *next, const gr_step_state *state, int64_t count)
{
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride())
        quad_store(running, i, count, quad_load(next, i, count), false);
}

extern "C" void GR_CUDA(batch_norm_commit_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(batch_norm_commit, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), call->exec->state, count);
}
