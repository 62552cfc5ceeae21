/* bench_half.c - see bench_half.h. */
#include "bench/bench_half.h"

#include <math.h>
#include <string.h>

/* binary16 of IEEE 754: 5 bits of exponent, 10 of the fraction. */
static double f16_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static uint16_t f16_bits(double x)
{
    int exponent;
    const double fraction = frexp(fabs(x), &exponent); /* 0.5 to 1, times 2^exponent */
    const int bits = exponent < -13 || x == 0
                         ? (int)nearbyint(ldexp(fabs(x), 24)) /* a carry is the next exponent's 0 */
                         : ((exponent + 14) << 10) + (int)nearbyint(fraction * 2048) - 1024;
    return (uint16_t)(bits | (signbit(x) ? 1 << 15 : 0));
}

double half_value(gr_type type, uint16_t bits)
{
    if (type == GR_F16)
        return f16_value(bits);
    const uint32_t wide = (uint32_t)bits << 16; /* bf16 is a float's upper half */
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

uint16_t half_bits(gr_type type, double x)
{
    if (type == GR_F16)
        return f16_bits(x);
    const float narrow = (float)x;
    uint32_t wide;
    memcpy(&wide, &narrow, sizeof wide);
    return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}
