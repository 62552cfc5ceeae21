/* sgd_step.c - p -= lr (g + decay p) over a slab. */
#include "kernels/cpu/elements.h"

INLINE void step(const void *arg, int64_t i, int64_t n)
{
    const gr_call *call = arg;
    const gr_sgd_args *args = call->options;
    float *p = gr__f32(call->in[0]) + i;       /* [count] */
    const float *g = gr__f32(call->in[1]) + i; /* [count] */
    const float lr = (float)call->exec->state->lr, decay = (float)args->weight_decay;
    const vec p_old = vec_load_n(p, n);
    vec_store_n(p, p_old - lr * (vec_load_n(g, n) + decay * p_old), n);
}

static void step_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    each_vector(step, call, call->in[0]->count, chunk);
}

void GR_CPU(sgd_step_forward)(const gr_call *call)
{
    if (!call->exec->state->skip)
        gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), step_chunk, (void *)call);
}
