/* cast.c - y = x in another type: float, f16, bf16; rounded to the nearest, ties to even, NaN stays NaN. */
#include "core/half.h"
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/dense_half.h"

enum { CHUNK = 16384 }; /* elements */

#if defined(__AVX512F__)
INLINE vec from_f16(const uint16_t *x)
{
    return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)x));
}

INLINE void to_f16(uint16_t *y, vec v)
{
    _mm256_storeu_si256((__m256i *)y, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__)
INLINE vec from_f16(const uint16_t *x)
{
    return (vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)x));
}

INLINE void to_f16(uint16_t *y, vec v)
{
    _mm_storeu_si128((__m128i *)y, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#else
INLINE vec from_f16(const uint16_t *x)
{
    vec v;
    for (int i = 0; i < VL; i++)
        v[i] = (float)gr__f16_value(x[i]);
    return v;
}

INLINE void to_f16(uint16_t *y, vec v)
{
    for (int i = 0; i < VL; i++)
        y[i] = gr__f16_of((double)v[i]);
}
#endif

INLINE vec load_as(gr_type type, const void *x, int64_t i)
{
    return type == GR_F32   ? vec_load((const float *)x + i)
           : type == GR_F16 ? from_f16((const uint16_t *)x + i)
                            : from_bf16((const uint16_t *)x + i);
}

INLINE void store_as(gr_type type, void *y, int64_t i, vec v)
{
    if (type == GR_F32)
        vec_store((float *)y + i, v);
    else if (type == GR_F16)
        to_f16((uint16_t *)y + i, v);
    else
        to_bf16((uint16_t *)y + i, v);
}

/* n elements of y from x, by whole vectors; the last one through buffers of a vector's length. */
INLINE void convert(gr_type to, void *y, gr_type from, const void *x, int64_t n)
{
    const size_t y_size = to == GR_F32 ? sizeof(float) : 2, x_size = from == GR_F32 ? sizeof(float) : 2;
    int64_t i = 0;
    for (; i + VL <= n; i += VL)
        store_as(to, y, i, load_as(from, x, i));
    if (i == n)
        return;
    float x_tail[VL] = {0}, y_tail[VL];
    memcpy(x_tail, (const char *)x + (size_t)i * x_size, (size_t)(n - i) * x_size);
    store_as(to, y_tail, 0, load_as(from, x_tail, 0));
    memcpy((char *)y + (size_t)i * y_size, y_tail, (size_t)(n - i) * y_size);
}

void GR_CPU(convert)(gr_type to, void *y, gr_type from, const void *x, int64_t n)
{
    if (from == GR_F32 && to == GR_F16) /* types known here make loops without a choice in them */
        convert(GR_F16, y, GR_F32, x, n);
    else if (from == GR_F32 && to == GR_BF16)
        convert(GR_BF16, y, GR_F32, x, n);
    else if (from == GR_F16 && to == GR_F32)
        convert(GR_F32, y, GR_F16, x, n);
    else if (from == GR_BF16 && to == GR_F32)
        convert(GR_F32, y, GR_BF16, x, n);
    else
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
