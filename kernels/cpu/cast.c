/* cast.c - y = x in another type: float, f16, bf16; rounded to the nearest, ties to even, NaN stays NaN. */
#include "kernels/cpu/cast.h"
#include "kernels/cpu/any_float.h"

enum { CHUNK = 16384 }; /* elements */

/* n elements of y from x. */
INLINE void convert(gr_type to, void *y, gr_type from, const void *x, int64_t n)
{
    int64_t i = 0;
    for (; i + VL <= n; i += VL)
        store_as(to, y, i, load_as(from, x, i));
    if (i < n)
        store_as_n(to, y, i, load_as_n(from, x, i, n - i), n - i);
}

void GR_CPU(convert)(gr_type to, void *y, gr_type from, const void *x, int64_t n)
{
    if (from == to)
        memcpy(y, x, (size_t)n * gr_type_size(to));
    else if (from == GR_F32 && to == GR_F16) /* types known here make loops without a choice in them */
        convert(GR_F16, y, GR_F32, x, n);
    else if (from == GR_F32 && to == GR_BF16)
        convert(GR_BF16, y, GR_F32, x, n);
    else if (from == GR_F16 && to == GR_F32)
        convert(GR_F32, y, GR_F16, x, n);
    else if (from == GR_BF16 && to == GR_F32)
        convert(GR_F32, y, GR_BF16, x, n);
    else /* one half to the other */
        convert(to, y, from, x, n);
}

INLINE void round_row(gr_type half, float *y, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += VL) {
        uint16_t h[VL];
        const int64_t count = min64(VL, n - i);
        store_as(half, h, 0, vec_load_n(x + i, count));
        vec_store_n(y + i, load_as(half, h, 0), count);
    }
}

void GR_CPU(round_to)(gr_type half, float *y, const float *x, int64_t n)
{
    half == GR_F16 ? round_row(GR_F16, y, x, n) : round_row(GR_BF16, y, x, n);
}

static void cast_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    const gr_tensor *x = call->in[0], *y = call->out[0];
    const int64_t first = chunk * CHUNK, n = min64(CHUNK, x->count - first);
    const char *from = (const char *)x->data + (size_t)first * gr_type_size(x->type);
    char *to = (char *)y->data + (size_t)first * gr_type_size(y->type);
    GR_CPU(convert)(y->type, to, x->type, from, n);
}

void GR_CPU(cast_forward)(const gr_call *call)
{
    gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), cast_chunk, (void *)call);
}
