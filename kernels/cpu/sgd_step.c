/* sgd_step.c - p -= lr g over a slab. */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 }; /* elements */

static void step_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    float *p = gr__f32(call->in[0]);       /* [count] */
    const float *g = gr__f32(call->in[1]); /* [count] */
    const float lr = (float)call->exec->state->lr;
    const int64_t end = min64(call->in[0]->count, (chunk + 1) * CHUNK);
    for (int64_t i = chunk * CHUNK; i < end; i += VL) {
        const int64_t n = min64(VL, end - i);
        vec_store_n(p + i, vec_load_n(p + i, n) - lr * vec_load_n(g + i, n), n);
    }
}

void GR_CPU(sgd_step_forward)(const gr_call *call)
{
    if (!call->exec->state->skip)
        gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), step_chunk, (void *)call);
}
