// Arithmetic of halves, two in a register.
#include "meanings.h"

#include <math.h>

static float float_of_half(uint32_t half)
{
    uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    float value = exponent == 31  ? fraction ? NAN : INFINITY
                  : exponent == 0 ? ldexpf((float)fraction, -24)
                                  : ldexpf((float)(fraction | 1024), (int)exponent - 25);
    return half & 0x8000 ? -value : value;
}

// To the nearest; what lies between two that are equally near goes either way, which no address shows.
static uint32_t half_of_float(float value)
{
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    float size = fabsf(value);
    int exponent;
    if (isnan(value))
        return 0x7fff;
    if (size >= 65520)
        return sign | 0x7c00;
    if (size < 0x1p-14f)
        return sign | (uint32_t)lrintf(ldexpf(size, 24));
    frexpf(size, &exponent);
    return sign + (uint32_t)lrintf(ldexpf(size, 11 - exponent)) + ((uint32_t)(exponent + 13) << 10);
}

// Two halves of an operand as floats, upper first; immediates are written as two operands. Returns operands taken.
static int read_halves(const struct warp *warp, const struct parts *parts, int at, float to[2][LANES])
{
    const struct operand *operand = parts->from[at];
    uint32_t words[LANES];
    if (operand->kind == IMMEDIATE && at + 1 < parts->sources && parts->from[at + 1]->kind == IMMEDIATE) {
        read_floats(warp, operand, to[0]);
        read_floats(warp, parts->from[at + 1], to[1]);
        return 2;
    }
    read_word(warp, operand, 0, words);
    for (int i = 0; i < LANES; i++) {
        uint32_t high = operand->half == 1 ? words[i] : words[i] >> 16,
                 low = operand->half == 2 ? words[i] >> 16 : words[i];
        to[0][i] = float_of_half(high & 0xffff);
        to[1][i] = float_of_half(low & 0xffff);
        for (int k = 0; k < 2; k++) {
            to[k][i] = operand->absolute ? fabsf(to[k][i]) : to[k][i];
            to[k][i] = operand->negative ? -to[k][i] : to[k][i];
        }
    }
    return 1;
}

// nvcc makes constants of integers by it, too: the halves of R3 = -0 * 0 + {0, 16 * 2^-24}.
bool half_arithmetic(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    float terms[3][2][LANES] = {0};
    uint32_t result[LANES];
    if (has(it, ".BF16"))
        return false;
    for (int k = 0, at = 0; k < 3 && at < parts->sources; k++)
        at += read_halves(warp, parts, at, terms[k]);
    for (int i = 0; i < LANES; i++) {
        float sums[2];
        for (int k = 0; k < 2; k++) {
            float a = terms[0][k][i], b = terms[1][k][i];
            sums[k] = it->base[1] == 'A' ? a + b : it->base[1] == 'M' ? a * b : fmaf(a, b, terms[2][k][i]);
        }
        result[i] = has(it, ".F32") ? bits_of(sums[1]) : half_of_float(sums[0]) << 16 | half_of_float(sums[1]);
    }
    write_word(warp, parts->to->index, lanes, result);
    return true;
}
