/*
 * prox_step.c - p -= lr (g + gamma (p - anchor)) over a slab; in the first step of an update anchor becomes p. A
 * skipped update goes back to anchor.
 */
#include "kernels/cpu/elements.h"

INLINE void step(const void *arg, int64_t i, int64_t n)
{
    const gr_call *call = arg;
    const gr_prox_args *args = call->options;
    float *p = gr__f32(call->in[0]) + i, *anchor = gr__f32(call->in[2]) + i; /* [count] */
    const float *g = gr__f32(call->in[1]) + i;                               /* [count] */
    const float lr = (float)call->exec->state->lr, gamma = (float)args->gamma;
    const vec at = vec_load_n(p, n), from = args->first ? at : vec_load_n(anchor, n);
    if (args->first)
        vec_store_n(anchor, at, n);
    vec_store_n(p, call->exec->state->skip ? from : at - lr * (vec_load_n(g, n) + gamma * (at - from)), n);
}

static void step_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    each_vector(step, call, call->in[0]->count, chunk);
}

void GR_CPU(prox_step_forward)(const gr_call *call)
{
    gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), step_chunk, (void *)call);
}
