/*
 * half.h - fp16, bf16 and the bits of floats, as the emulated kernels see them. The rounding is core/half.h's.
 */
#ifndef GRADUS_SIMT_HALF_H
#define GRADUS_SIMT_HALF_H

#include "core/half.h"

static inline uint32_t gr__float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float gr__float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* Exponent and fraction moved to a float's place, 2^112 too small; infinity and NaN get a float's exponent. */
static inline float gr__half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7FFF) << 13;
    const float magnitude = (h & 0x7C00) == 0x7C00 ? gr__float_of(rest | 0x7F800000) : gr__float_of(rest) * 0x1p112f;
    return gr__float_of(gr__float_bits(magnitude) | sign);
}

static inline uint16_t gr__float_to_half(float f)
{
    return gr__f16_of((double)f);
}

static inline float gr__bf16_to_float(uint16_t b)
{
    return gr__float_of((uint32_t)b << 16);
}

static inline uint16_t gr__float_to_bf16(float f)
{
    return gr__bf16_of((double)f);
}

#endif
