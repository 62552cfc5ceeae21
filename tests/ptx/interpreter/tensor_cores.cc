/* tensor_cores.cc - see tensor_cores.h. All in integers. */
#include "tests/ptx/interpreter/tensor_cores.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ptx
{
enum { COLUMNS = 8, K_MAX = 16, FRACTION = 10 /* of a factor; bf16 has 7 */, OF_SUM = 23, NO_EXPONENT = -4000 };

/* value = digits 2^(exponent - FRACTION), of a sum 2^(exponent - OF_SUM). */
struct number {
    int32_t digits, exponent;
};

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static number taken_apart(float v, int least, int fraction)
{
    const uint32_t bits = bits_of(v);
    const int32_t field = (int32_t)(bits >> 23 & 255), whole = (int32_t)((bits & 0x7FFFFF) | (field ? 0x800000 : 0));
    if (!whole)
        return {0, NO_EXPONENT};
    const int32_t own = std::max(field, 1) - 127, exponent = std::max(own, least);
    const int32_t digits = whole >> (exponent - own + OF_SUM - fraction);
    return {bits >> 31 ? -digits : digits, exponent};
}

/* sum 2^exponent cut to a float. */
static float cut(int64_t sum, int exponent)
{
    if (!sum)
        return 0;
    const uint32_t sign = sum < 0 ? 1u << 31 : 0;
    uint64_t digits = (uint64_t)(sum < 0 ? -sum : sum);
    const int length = 64 - __builtin_clzll(digits), lost = std::max(length - 24, -149 - exponent);
    digits = lost >= 64 ? 0 : lost > 0 ? digits >> lost : digits << -lost;
    if (!digits)
        return 0;
    const int of_last = exponent + lost, field = digits >> 23 ? of_last + 150 : 0;
    return float_of(sign | (field >= 255 ? 0x7F800000u : (uint32_t)field << 23 | (digits & 0x7FFFFF)));
}

/* Factors of a block of products, and of all columns. */
struct terms {
    int32_t a[K_MAX], of_a[K_MAX], b[K_MAX][COLUMNS], of_b[K_MAX][COLUMNS];
};

static void add(float d[COLUMNS], const terms &t, int first, int count, int bits)
{
    int32_t c[COLUMNS], of_c[COLUMNS], top[COLUMNS], halves[2][COLUMNS] = {};
    for (int x = 0; x < COLUMNS; x++) {
        const number n = taken_apart(d[x], -126, OF_SUM);
        c[x] = n.digits, of_c[x] = n.exponent;
        top[x] = std::max(of_c[x], -133);
    }
    for (int k = first; k < first + count; k++)
        for (int x = 0; x < COLUMNS; x++)
            top[x] = std::max(top[x], t.of_a[k] + t.of_b[k][x]);
    for (int k = first; k < first + count; k++)
        for (int x = 0; x < COLUMNS; x++) {
            const int32_t product = t.a[k] * t.b[k][x], right = top[x] - t.of_a[k] - t.of_b[k][x];
            const int32_t size = (product < 0 ? -product : product) << (bits - 2 * FRACTION) >> std::min(right, 31);
            halves[k & 1][x] += product < 0 ? -size : size;
        }
    for (int x = 0; x < COLUMNS; x++) {
        const int32_t size = (c[x] < 0 ? -c[x] : c[x]) << (bits - OF_SUM) >> std::min(top[x] - of_c[x], 31);
        d[x] = cut((int64_t)halves[0][x] + halves[1][x] + (c[x] < 0 ? -size : size), top[x] - bits);
    }
}

/* Infinity and NaN, which no shift moves, among what is added: what floats make of them. */
static bool no_number(float d, const float *a, const float (*b)[8], int k, int x, float *what)
{
    double sum = d;
    for (int j = 0; j < k; j++)
        sum += (double)a[j] * (double)b[j][x];
    *what = std::isnan(sum) ? float_of(0x7FFFFFFF) : (float)sum;
    return !std::isfinite(sum);
}

/* Of k factors; false: one of them is no number. */
static bool take_apart(const float *from, int k, int least, int32_t *digits, int32_t *exponents)
{
    bool numbers = true;
    for (int j = 0; j < k; j++) {
        const number n = taken_apart(from[j], least, FRACTION);
        digits[j] = n.digits, exponents[j] = n.exponent;
        numbers &= std::isfinite(from[j]);
    }
    return numbers;
}

void tensor_core(float d[][8], const float *a, const float (*b)[8], int k, element of, unsigned arch)
{
    const int at_once = std::min(k, arch >= 90 ? (of == element::TF32 ? 8 : 16) : of == element::TF32 ? 4 : 8);
    const int bits = arch >= 90 ? 25 : 24, least = of == element::F16 ? -14 : -126;
    terms t;
    const bool right = take_apart(b[0], k * COLUMNS, least, t.b[0], t.of_b[0]);
    for (int row = 0; row < 16; row++) {
        const bool numbers = take_apart(a + row * k, k, least, t.a, t.of_a) && right;
        for (int j = 0; j < k; j += at_once) {
            float before[COLUMNS], what;
            memcpy(before, d[row], sizeof before);
            add(d[row], t, j, at_once, bits);
            for (int x = 0; x < COLUMNS; x++)
                if ((!numbers || !std::isfinite(before[x])) &&
                    no_number(before[x], a + row * k + j, b + j, at_once, x, &what))
                    d[row][x] = what;
        }
    }
}
} // namespace ptx
