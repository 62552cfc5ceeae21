/* unscale.c - g /= scale over a slab; skip = 1 if an element is not finite. */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384 }; /* elements */

static void unscale_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    float *g = gr__f32(call->in[0]); /* [count] */
    const float factor = 1 / gr__f32(call->in[1])[GR_SCALER_SCALE];
    const int64_t end = min64(call->in[0]->count, (chunk + 1) * CHUNK);
    vec finite = {0}; /* stays 0: an infinity or NaN times 0 is NaN */
    for (int64_t i = chunk * CHUNK; i < end; i += VL) {
        const int64_t n = min64(VL, end - i);
        const vec v = vec_load_n(g + i, n);
        finite += v * 0.0f;
        vec_store_n(g + i, v * factor, n);
    }
    bool overflow = false;
    for (int i = 0; i < VL; i++)
        overflow |= !(finite[i] == 0);
    ((bool *)call->exec->scratch)[chunk] = overflow;
}

size_t GR_CPU(unscale_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (size_t)ceil_div(call->in[0]->count, CHUNK) * sizeof(bool);
}

void GR_CPU(unscale_forward)(const gr_call *call)
{
    const int64_t chunks = ceil_div(call->in[0]->count, CHUNK);
    const bool *overflow = call->exec->scratch; /* [chunks] */
    gr_parallel_for(call->exec, chunks, unscale_chunk, (void *)call);
    for (int64_t i = 0; i < chunks; i++)
        if (overflow[i])
            gr__f32(call->in[1])[GR_SCALER_SKIP] = 1;
}
