/* bf16.h - vectors of floats from and to bf16, the upper half of a float; no instruction set has to know it. */
#ifndef GRADUS_CPU_BF16_H
#define GRADUS_CPU_BF16_H

#include "kernels/cpu/simd.h"

typedef uint16_t hvec __attribute__((vector_size(VL * sizeof(uint16_t))));
typedef uint32_t uvec __attribute__((vector_size(VL * sizeof(uint32_t))));

INLINE hvec hvec_load(const uint16_t *p)
{
    hvec h;
    memcpy(&h, p, sizeof h);
    return h;
}

/* The first n (0..VL) halves at p, and zeros. */
INLINE hvec hvec_load_n(const uint16_t *p, int64_t n)
{
#if defined(__AVX512BW__)
    return (hvec)_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p);
#else
    hvec h = {0};
    for (int64_t i = 0; i < n; i++)
        h[i] = p[i];
    return h;
#endif
}

INLINE void hvec_store_n(uint16_t *p, hvec h, int64_t n)
{
#if defined(__AVX512BW__)
    _mm256_mask_storeu_epi16(p, (__mmask16)((1u << n) - 1), (__m256i)h);
#else
    for (int64_t i = 0; i < n; i++)
        p[i] = h[i];
#endif
}

/* n (1..VL) bytes, and zeros. */
INLINE hvec hvec_from_bytes_n(const uint8_t *p, int64_t n)
{
#if defined(__AVX512BW__)
    return (hvec)_mm256_cvtepu8_epi16(_mm_maskz_loadu_epi8((__mmask16)((1u << n) - 1), p));
#else
    hvec h = {0};
    for (int64_t i = 0; i < n; i++)
        h[i] = p[i];
    return h;
#endif
}

/*
 * To the nearest, ties to even: a carry out of the half that goes rounds the other up. NaN becomes 0x7FFF. The
 * instruction of AVX512-BF16 keeps more of a NaN, and would flush a subnormal number, of which no sum is one here
 * (core/float_mode.h).
 */
INLINE hvec bf16_of(vec v)
{
#if defined(__AVX512BF16__)
    return (hvec)_mm512_cvtneps_pbh((__m512)v);
#else
    const uvec bits = (uvec)v, rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    const uvec is_nan = (uvec)(v != v);
    return __builtin_convertvector((rounded & ~is_nan) | (is_nan & 0x7FFF), hvec);
#endif
}

INLINE vec of_bf16(hvec h)
{
    return (vec)(__builtin_convertvector(h, uvec) << 16);
}

INLINE void to_bf16(uint16_t *y, vec v)
{
    const hvec h = bf16_of(v);
    memcpy(y, &h, sizeof h);
}

INLINE vec from_bf16(const uint16_t *x)
{
    return of_bf16(hvec_load(x));
}

#endif
