/* tensor_cores.cc - see tensor_cores.h. All in integers. */
#include "tests/ptx/interpreter/tensor_cores.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ptx
{
enum { COLUMNS = 8, K_MAX = 16, FRACTION = 10 /* of a factor; bf16 has 7 */, OF_SUM = 23, NO_EXPONENT = -4000 };

/* Columns side by side. */
typedef int32_t words __attribute__((vector_size(4 * COLUMNS), may_alias));
typedef int32_t four_words __attribute__((vector_size(16)));
typedef int64_t four_longs __attribute__((vector_size(32)));
typedef float four_floats __attribute__((vector_size(16)));
typedef double four_doubles __attribute__((vector_size(32)));
static const words ONES = {1, 1, 1, 1, 1, 1, 1, 1};

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

/* count floats, a multiple of 8; a number's exponent is least or more. */
static void take_apart(const float *from, int count, int least, int fraction, int32_t *digits, int32_t *exponents)
{
    for (int j = 0; j < count; j += COLUMNS) {
        words bits;
        memcpy(&bits, from + j, sizeof bits);
        const words field = bits >> 23 & 255, whole = (bits & 0x7FFFFF) | (field > 0 ? ONES << 23 : ONES & 0);
        const words own = (field > 0 ? field : ONES) - 127, exponent = own > least ? own : ONES * least;
        const words by = exponent - own + (OF_SUM - fraction), size = whole >> (by < 31 ? by : ONES * 31);
        const words with_sign = bits < 0 ? -size : size, of = whole > 0 ? exponent : ONES * (int32_t)NO_EXPONENT;
        memcpy(digits + j, &with_sign, sizeof with_sign);
        memcpy(exponents + j, &of, sizeof of);
    }
}

static bool finite(const float *v, int count)
{
    uint32_t most = 0;
    for (int j = 0; j < count; j++)
        most = std::max(most, bits_of(v[j]) & 0x7FFFFFFF);
    return most < 0x7F800000;
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

/* Factors of a block of products, and of all columns: digits 2^(exponent - FRACTION), of a sum - OF_SUM. */
struct terms {
    int32_t a[K_MAX], of_a[K_MAX];
    words b[K_MAX], of_b[K_MAX];
};

/* d = (sum of the three) 2^exponent, cut, of four columns. A double holds the sum; its last bits are taken away. */
static void cut_four(float *d, const int32_t *first, const int32_t *second, const int32_t *third,
                     const int32_t *exponent)
{
    four_words a, b, c, e;
    memcpy(&a, first, sizeof a), memcpy(&b, second, sizeof b), memcpy(&c, third, sizeof c);
    memcpy(&e, exponent, sizeof e);
    const four_doubles sum = __builtin_convertvector(a, four_doubles) + __builtin_convertvector(b, four_doubles) +
                             __builtin_convertvector(c, four_doubles);
    const four_longs kept = (four_longs)sum & ~(int64_t)0x1FFFFFFF;
    const four_longs factor = (__builtin_convertvector(e, four_longs) + 1023) << 52;
    const four_doubles value = (four_doubles)kept * (four_doubles)factor;
    const four_longs small = (value < 0x1p-126) & (value > -0x1p-126) & (value != 0);
    const four_floats result = __builtin_convertvector(value, four_floats);
    memcpy(d, &result, sizeof result);
    if (small[0] | small[1] | small[2] | small[3]) /* not normal: fewer bits are kept */
        for (int x = 0; x < 4; x++)
            d[x] = cut((int64_t)sum[x], exponent[x]);
}

static void add(float d[COLUMNS], const terms &t, int first, int count, int bits)
{
    words c, of_c, top, halves[2] = {};
    take_apart(d, COLUMNS, -126, OF_SUM, (int32_t *)&c, (int32_t *)&of_c);
    top = of_c > -133 ? of_c : ONES * -133;
    for (int k = first; k < first + count; k++) {
        const words of = t.of_b[k] + t.of_a[k];
        top = of > top ? of : top;
    }
    for (int k = first; k < first + count; k++) {
        const words product = t.b[k] * t.a[k], right = top - t.of_b[k] - t.of_a[k];
        const words size =
            ((product < 0 ? -product : product) << (bits - 2 * FRACTION)) >> (right < 31 ? right : ONES * 31);
        halves[k & 1] += product < 0 ? -size : size;
    }
    const words right = top - of_c;
    const words size = ((c < 0 ? -c : c) << (bits - OF_SUM)) >> (right < 31 ? right : ONES * 31);
    c = c < 0 ? -size : size;
    top -= bits;
    for (int x = 0; x < COLUMNS; x += 4)
        cut_four(d + x, (int32_t *)&halves[0] + x, (int32_t *)&halves[1] + x, (int32_t *)&c + x, (int32_t *)&top + x);
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

void tensor_core(float d[][8], const float *a, const float (*b)[8], int k, element of, unsigned arch)
{
    const int at_once = std::min(k, arch >= 90 ? (of == element::TF32 ? 8 : 16) : of == element::TF32 ? 4 : 8);
    const int bits = arch >= 90 ? 25 : 24, least = of == element::F16 ? -14 : -126;
    terms t;
    const bool numbers = finite(b[0], k * COLUMNS) && finite(a, 16 * k);
    take_apart(b[0], k * COLUMNS, least, FRACTION, (int32_t *)t.b, (int32_t *)t.of_b);
    for (int row = 0; row < 16; row++) {
        take_apart(a + row * k, k, least, FRACTION, t.a, t.of_a);
        for (int j = 0; j < k; j += at_once) {
            float before[COLUMNS], what;
            memcpy(before, d[row], sizeof before);
            add(d[row], t, j, at_once, bits);
            if (numbers && finite(before, COLUMNS))
                continue;
            for (int x = 0; x < COLUMNS; x++)
                if (no_number(before[x], a + row * k + j, b + j, at_once, x, &what))
                    d[row][x] = what;
        }
    }
}
} // namespace ptx
