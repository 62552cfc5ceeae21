/*
 * lars_step.cu - LARS over one layer's weights, momentum mu.
 *
 *   r = trust |p| / (|g| + decay |p| + eps), 1 where p or g is 0     v = mu v + r (g + decay p)     p -= lr v
 *
 * Launch    |p| and |g| as tensor_total.cuh cuts them, two launches each; then a thread for four elements side by side,
 *           blocks of 256, each of which works the ratio out for itself. lr and skip are read from the step state.
 * Scratch   the two norms, and a float for each block of the sums.
 * Limit     memory: p and g are read twice, v once; p and v are written.
 * Measured  not yet.
 */
#include "kernels/cuda/tensor_total.cuh"

/* The two norms. */
typedef struct {
    float weights, gradient;
} norms;

GR_DEVICE float ratio(const norms *n, gr_lars_args a)
{
    if (n->weights == 0 || n->gradient == 0)
        return 1;
    return (float)a.trust * n->weights / (n->gradient + (float)a.weight_decay * n->weights + (float)a.epsilon);
}

/* p[count], g[count], v[count] */
static __global__ void lars_step(float *p, const float *g, float *v, const norms *n, gr_lars_args args,
                                 const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr, mu = (float)args.momentum, decay = (float)args.weight_decay, r = ratio(n, args);
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad weight = quad_load(p, i, count), velocity = quad_load(v, i, count);
        const quad gradient = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++) {
            velocity.at[j] = mu * velocity.at[j] + r * (gradient.at[j] + decay * weight.at[j]);
            weight.at[j] -= lr * velocity.at[j];
        }
        quad_store(v, i, count, velocity, false);
        quad_store(p, i, count, weight, false);
    }
}

enum { PARTIAL = 256 }; /* bytes from the norms to the sums of blocks */

extern "C" size_t GR_CUDA(lars_step_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return PARTIAL + tensor_total_bytes(call);
}

extern "C" void GR_CUDA(lars_step_forward)(const gr_call *call)
{
    norms *n = (norms *)call->exec->scratch;
    float *partial = (float *)((char *)call->exec->scratch + PARTIAL);
    const int64_t count = call->in[0]->count;
    tensor_total_into(&n->weights, partial, call->in[0], true, 1, true, call->exec->queue);
    tensor_total_into(&n->gradient, partial, call->in[1], true, 1, true, call->exec->queue);
    GR_LAUNCH(lars_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), n, *(const gr_lars_args *)call->options, call->exec->state,
              count);
}
