/*
 * momentum_step.cu - SGD with momentum mu, over a whole slab.
 *
 *   g' = g + decay p (coupled decay)     v = mu v + g'     p -= lr v, with Nesterov's p -= lr (g' + mu v)
 *   decoupled decay: g' = g, and p loses lr decay p as well
 *
 * Launch    a thread for four elements side by side, blocks of 256. lr and skip are read from the step state.
 * Limit     memory: three arrays are read, two are written.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

typedef struct {
    float mu, coupled, decoupled; /* decay in the gradient, decay beside the step */
    bool nesterov;
} numbers;

/* p[count], g[count], v[count] */
static __global__ void momentum_step(float *p, const float *g, float *v, numbers a, const gr_step_state *state,
                                     int64_t count)
{
    const float lr = (float)state->lr;
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad weight = quad_load(p, i, count), velocity = quad_load(v, i, count);
        const quad gradient = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++) {
            const float grad = gradient.at[j] + a.coupled * weight.at[j];
            velocity.at[j] = a.mu * velocity.at[j] + grad;
            const float step = a.nesterov ? grad + a.mu * velocity.at[j] : velocity.at[j];
            weight.at[j] -= lr * (step + a.decoupled * weight.at[j]);
        }
        quad_store(v, i, count, velocity, false);
        quad_store(p, i, count, weight, false);
    }
}

extern "C" void GR_CUDA(momentum_step_forward)(const gr_call *call)
{
    const gr_momentum_args *args = (const gr_momentum_args *)call->options;
    const float decay = (float)args->weight_decay;
    const numbers a = {(float)args->momentum, args->decoupled ? 0 : decay, args->decoupled ? decay : 0, args->nesterov};
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(momentum_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), a, call->exec->state, count);
}
