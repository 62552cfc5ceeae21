/*
 * half.h - the two 16-bit floating-point types, as bits: f16 (IEEE binary16: 5 bits of exponent, 10 of fraction) and
 * bf16 (the upper half of a float). Rounding is to the nearest, ties to even, in one step from a double; NaN becomes
 * 0x7FFF.
 */
#ifndef GRADUS_HALF_H
#define GRADUS_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint64_t gr__bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/*
 * v with exponent bits of exponent (the largest finite one is 2^bias) and fraction bits of fraction. A double's
 * fraction has 52 bits; those that go are rounded off by an addition whose carry runs into the exponent where it must.
 */
static inline uint16_t gr__narrow(double v, int exponent, int fraction)
{
    const int bias = (1 << (exponent - 1)) - 1;
    const uint64_t bits = gr__bits_of(v), magnitude = bits & INT64_MAX;
    const uint32_t sign = (uint32_t)(bits >> 63) << 15, infinity = (uint32_t)((1 << exponent) - 1) << fraction;
    const int power = (int)(magnitude >> 52) - 1023;
    if (magnitude > (uint64_t)2047 << 52)
        return 0x7FFF; /* the one that GPUs make */
    if (power > bias)
        return (uint16_t)(sign | infinity);
    const int lost = 52 - fraction + (power < 1 - bias ? 1 - bias - power : 0); /* subnormal: fewer bits are left */
    if (lost > 53)
        return (uint16_t)sign;
    const uint64_t whole = (magnitude & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    const uint64_t rounded = (whole + ((uint64_t)1 << (lost - 1)) - 1 + (whole >> lost & 1)) >> lost;
    const uint64_t below =
        power < 1 - bias ? 0 : (uint64_t)(power + bias - 1) << fraction; /* whole has the leading 1 */
    return (uint16_t)(sign | (uint32_t)(below + rounded));
}

static inline double gr__widen(uint16_t h, int exponent, int fraction)
{
    const int bias = (1 << (exponent - 1)) - 1, power = h >> fraction & ((1 << exponent) - 1);
    const uint64_t sign = (uint64_t)(h >> 15) << 63, low = (uint64_t)(h & ((1 << fraction) - 1));
    uint64_t bits = sign | (uint64_t)(power - bias + 1023) << 52 | low << (52 - fraction);
    if (power == (1 << exponent) - 1)
        bits = sign | (uint64_t)2047 << 52 | low << (52 - fraction);
    double v;
    memcpy(&v, &bits, sizeof v);
    if (power > 0)
        return v;
    const uint64_t unit_bits = (uint64_t)(1 - bias - fraction + 1023) << 52; /* of the smallest subnormal */
    memcpy(&v, &unit_bits, sizeof v);
    return sign ? -(v * (double)low) : v * (double)low;
}

static inline uint16_t gr__f16_of(double v)
{
    return gr__narrow(v, 5, 10);
}
static inline uint16_t gr__bf16_of(double v)
{
    return gr__narrow(v, 8, 7);
}
static inline double gr__f16_value(uint16_t h)
{
    return gr__widen(h, 5, 10);
}
static inline double gr__bf16_value(uint16_t h)
{
    return gr__widen(h, 8, 7);
}

#endif
