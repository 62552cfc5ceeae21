/* sam_climb.c - saved = p; p += rho g / (norm + 1e-12) over a slab, also in an update that is skipped. */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 }; /* elements */

INLINE void step(const gr_call *call, float factor, int64_t i, int64_t n)
{
    float *p = gr__f32(call->in[0]) + i, *saved = gr__f32(call->in[3]) + i; /* [count] */
    const float *g = gr__f32(call->in[1]) + i;                              /* [count] */
    const vec at = vec_load_n(p, n);
    vec_store_n(saved, at, n);
    vec_store_n(p, at + factor * vec_load_n(g, n), n);
}

static void step_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    const gr_factor_args *args = call->options;
    const float factor = (float)(args->factor / ((double)gr__f32(call->in[2])[0] + 1e-12));
    const int64_t end = min64(call->in[0]->count, (chunk + 1) * CHUNK);
    int64_t i = chunk * CHUNK;
    for (; i + VL <= end; i += VL)
        step(call, factor, i, VL);
    if (i < end)
        step(call, factor, i, end - i);
}

void GR_CPU(sam_climb_forward)(const gr_call *call)
{
    gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), step_chunk, (void *)call);
}
