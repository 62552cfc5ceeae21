/*
 * prox_step.cu - p -= lr (g + gamma (p - anchor)), over a whole slab; in the first step of an update anchor becomes p.
 * A skipped update goes back to anchor.
 *
 * Launch    a thread for four elements side by side, blocks of 256. lr and skip are read from the step state.
 * Limit     memory: three arrays are read and one is written; in the first step two of each.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* p[count], g[count], anchor[count] */
static __global__ void prox_step(float *p, const float *g, float *anchor, float gamma, bool first,
                                 const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr;
    const bool skip = state->skip;
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad weight = quad_load(p, i, count);
        const quad gradient = quad_load(g, i, count), from = first ? weight : quad_load(anchor, i, count);
        for (int j = 0; j < QUAD; j++)
            weight.at[j] =
                skip ? from.at[j] : weight.at[j] - lr * (gradient.at[j] + gamma * (weight.at[j] - from.at[j]));
        if (first)
            quad_store(anchor, i, count, from, false);
        quad_store(p, i, count, weight, false);
    }
}

extern "C" void GR_CUDA(prox_step_forward)(const gr_call *call)
{
    const gr_prox_args *args = (const gr_prox_args *)call->options;
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(prox_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), (float)args->gamma, args->first, call->exec->state, count);
}
