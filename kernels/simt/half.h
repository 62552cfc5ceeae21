/*
 * half.h - fp16 and bf16 in software, with the rounding of the hardware: to nearest, ties to even. NaN becomes 0x7FFF.
 */
#ifndef GRADUS_SIMT_HALF_H
#define GRADUS_SIMT_HALF_H

#include <stdint.h>
#include <string.h>

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

/* fp16: sign, 5 bits exponent (bias 15), 10 bits fraction. */
static inline float gr__half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) /* infinity, NaN */
        return gr__float_of(sign | 0x7F800000 | fraction << 13);
    if (exponent == 0) { /* zero, subnormal: units of 2^-24 */
        const float f = (float)fraction * 0x1p-24f;
        return sign ? -f : f;
    }
    return gr__float_of(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

static inline uint16_t gr__float_to_half(float f)
{
    const uint32_t bits = gr__float_bits(f), sign = bits >> 16 & 0x8000, u = bits & 0x7FFFFFFF;
    if (u > 0x7F800000)
        return 0x7FFF;
    if (u >= 0x47800000) /* 2^16 and more */
        return (uint16_t)(sign | 0x7C00);
    if (u < 0x38800000) /* below 2^-14: adding 1/2 leaves the subnormal's 10 bits, rounded, at the end of the sum */
        return (uint16_t)(sign | (uint16_t)(gr__float_bits(gr__float_of(u) + 0.5f) - 0x3F000000));
    const uint32_t rounded = u + 0xFFF + (u >> 13 & 1) - ((127u - 15) << 23);
    return (uint16_t)(sign | rounded >> 13);
}

/* bf16: the upper half of a float. */
static inline float gr__bf16_to_float(uint16_t b)
{
    return gr__float_of((uint32_t)b << 16);
}

static inline uint16_t gr__float_to_bf16(float f)
{
    const uint32_t u = gr__float_bits(f);
    if ((u & 0x7FFFFFFF) > 0x7F800000)
        return 0x7FFF;
    return (uint16_t)((u + 0x7FFF + (u >> 16 & 1)) >> 16);
}

#endif
