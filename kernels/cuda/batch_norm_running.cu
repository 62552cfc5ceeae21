/*
 * batch_norm_running.cu - the running statistics of batch normalisation.
 *
 *   batch_norm_track, from n values per channel; from: running at first, else next
 *     next_mean = from_mean + momentum (batch_mean - from_mean)
 *     next_var  = from_var + momentum (batch_var n/(n-1) - from_var)
 *
 *   batch_norm_commit, over a whole slab, unless the update is skipped
 *     running = next
 *
 * Launch    a thread for four channels side by side, blocks of 256. skip is read from the step state.
 * Limit     the launch: a few kilobytes.
 * Measured  H200: 9 and 10 us, a launch's.
 */
#include "kernels/cuda/quad.cuh"

/* next = from + momentum (unbias batch - from); each [C], next and from may be one */
GR_DEVICE void track(float *next, const float *from, const float *batch, float momentum, float unbias, int64_t c,
                     int64_t C)
{
    quad v = quad_load(from, c, C);
    const quad seen = quad_load(batch, c, C);
    for (int j = 0; j < QUAD; j++)
        v.at[j] += momentum * (unbias * seen.at[j] - v.at[j]);
    quad_store(next, c, C, v, false);
}

/* each [C] */
static __global__ void batch_norm_track(float *next_mean, float *next_var, const float *from_mean,
                                        const float *from_var, const float *batch_mean, const float *batch_var,
                                        float momentum, float unbias, const gr_step_state *state, int64_t C)
{
    const int64_t end = state->skip ? 0 : C;
    for (int64_t c = quad_first(); c < end; c += quad_stride()) {
        track(next_mean, from_mean, batch_mean, momentum, 1, c, C);
        track(next_var, from_var, batch_var, momentum, unbias, c, C);
    }
}

extern "C" void GR_CUDA(batch_norm_track_forward)(const gr_call *call)
{
    const gr_batch_norm_track_args *args = (const gr_batch_norm_track_args *)call->options;
    const int64_t C = call->in[0]->count;
    const int from = args->first ? 2 : 0;
    GR_LAUNCH(batch_norm_track, quad_blocks(C), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[from]), gr__f32(call->in[from + 1]), gr__f32(call->in[4]),
              gr__f32(call->in[5]), (float)args->momentum, (float)((double)args->values / (double)(args->values - 1)),
              call->exec->state, C);
}

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
