/* overflow.c - skip = 1 if an element of x is not finite: one whose exponent has all its bits set. */
#include "kernels/cpu/cpu.h"

enum { CHUNK = 16384, FLOAT_EXPONENT = 0x7F800000, F16_EXPONENT = 0x7C00, BF16_EXPONENT = 0x7F80 };

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
    return (size_t)ceil_div(call->in[0]->count, CHUNK) * sizeof(bool);
}

void GR_CPU(overflow_forward)(const gr_call *call)
{
    const int64_t chunks = ceil_div(call->in[0]->count, CHUNK);
    const bool *overflow = call->exec->scratch; /* [chunks] */
    gr_parallel_for(call->exec, chunks, look_at_chunk, (void *)call);
    for (int64_t i = 0; i < chunks; i++)
        if (overflow[i])
            gr__f32(call->in[1])[GR_SCALER_SKIP] = 1;
}
