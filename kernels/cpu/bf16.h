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

/* To the nearest, ties to even: a carry out of the half that goes rounds the other up. NaN becomes 0x7FFF. */
INLINE void to_bf16(uint16_t *y, vec v)
{
    const uvec bits = (uvec)v, rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    const uvec is_nan = (uvec)(v != v);
    const hvec h = __builtin_convertvector((rounded & ~is_nan) | (is_nan & 0x7FFF), hvec);
    memcpy(y, &h, sizeof h);
}

INLINE vec from_bf16(const uint16_t *x)
{
    return (vec)(__builtin_convertvector(hvec_load(x), uvec) << 16);
}

#endif
