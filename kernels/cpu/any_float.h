/*
 * any_float.h - vectors of floats from and to float, f16 and bf16. Halves are rounded to the nearest, ties to even; NaN
 * stays NaN. The type is a constant wherever it matters how long this takes.
 */
#ifndef GRADUS_CPU_ANY_FLOAT_H
#define GRADUS_CPU_ANY_FLOAT_H

#include "core/half.h"
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/cpu.h"

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

/* NULL of a tensor that is not there. */
INLINE void *data_of(const gr_tensor *t)
{
    return t ? t->data : NULL;
}

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

/* The first n (1..VL) elements from i on; zeros behind. */
INLINE vec load_as_n(gr_type type, const void *x, int64_t i, int64_t n)
{
    if (type == GR_F32)
        return vec_load_n((const float *)x + i, n);
    if (n == VL)
        return load_as(type, x, i);
    const hvec halves = hvec_load_n((const uint16_t *)x + i, n);
    return type == GR_F16 ? from_f16((const uint16_t *)&halves) : of_bf16(halves);
}

INLINE void store_as_n(gr_type type, void *y, int64_t i, vec v, int64_t n)
{
    if (type == GR_F32) {
        vec_store_n((float *)y + i, v, n);
    } else if (n == VL) {
        store_as(type, y, i, v);
    } else {
        hvec halves;
        store_as(type, &halves, 0, v);
        hvec_store_n((uint16_t *)y + i, halves, n);
    }
}

/* NAME_chunk of a pass NAME(plan, type, chunk): the types known here make loops without a choice in them. */
#define BY_TYPE(plan, pass)                            \
    static void pass##_chunk(void *arg, int64_t chunk) \
    {                                                  \
        const plan *f = arg;                           \
        if (f->type == GR_F32)                         \
            pass(f, GR_F32, chunk);                    \
        else if (f->type == GR_F16)                    \
            pass(f, GR_F16, chunk);                    \
        else                                           \
            pass(f, GR_BF16, chunk);                   \
    }

#endif
