/*
 * loss_scaling.c - unscale: g /= scale over a slab, skip = 1 if an element is not finite; and overflow: skip = 1 if an
 * element of x is not finite, one whose exponent has all its bits set. A chunk leaves in scratch whether it met one.
 */
#include "kernels/cpu/elements.h"

static size_t flags_of(const gr_call *call)
{
    return (size_t)ceil_div(call->in[0]->count, CHUNK) * sizeof(bool);
}

/* Runs the chunks of in[0]; the scaler in[1] is told if one left true. */
static void look(const gr_call *call, void (*chunk)(void *arg, int64_t chunk))
{
    const int64_t chunks = ceil_div(call->in[0]->count, CHUNK);
    const bool *overflow = call->exec->scratch; /* [chunks] */
    gr_parallel_for(call->exec, chunks, chunk, (void *)call);
    for (int64_t i = 0; i < chunks; i++)
        if (overflow[i])
            gr__f32(call->in[1])[GR_SCALER_SKIP] = 1;
}

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
    return flags_of(call);
}

void GR_CPU(unscale_forward)(const gr_call *call)
{
    look(call, unscale_chunk);
}

enum { FLOAT_EXPONENT = 0x7F800000, F16_EXPONENT = 0x7C00, BF16_EXPONENT = 0x7F80 };

INLINE bool any_float(const uint32_t *x, int64_t n)
{
    uint32_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= (x[i] & FLOAT_EXPONENT) == FLOAT_EXPONENT;
    return found;
}

INLINE bool any_half(const uint16_t *x, int64_t n, uint16_t exponent)
{
    uint16_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= (x[i] & exponent) == exponent;
    return found;
}

static void look_at_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    const gr_tensor *x = call->in[0]; /* [count] */
    const int64_t first = chunk * CHUNK, n = min64(CHUNK, x->count - first);
    bool *overflow = call->exec->scratch; /* [chunks] */
    if (x->type == GR_F32)
        overflow[chunk] = any_float((const uint32_t *)x->data + first, n);
    else
        overflow[chunk] =
            any_half((const uint16_t *)x->data + first, n, x->type == GR_F16 ? F16_EXPONENT : BF16_EXPONENT);
}

size_t GR_CPU(overflow_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return flags_of(call);
}

void GR_CPU(overflow_forward)(const gr_call *call)
{
    look(call, look_at_chunk);
}
