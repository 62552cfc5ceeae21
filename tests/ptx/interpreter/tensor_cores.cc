/* tensor_cores.cc - see tensor_cores.h. All in integers. */
#include "tests/ptx/interpreter/tensor_cores.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ptx
{
enum { ROWS = 16, COLUMNS = 8, K_MAX = 16, NO_EXPONENT = -4000 };
enum { FRACTION = 10, OF_SUM = 23 }; /* bits: of a factor, where bf16 has 7, and of a sum */

/* Rows side by side. */
typedef int32_t words __attribute__((vector_size(4 * ROWS), may_alias));
typedef int32_t eight_words __attribute__((vector_size(32)));
typedef int64_t eight_longs __attribute__((vector_size(64)));
typedef float eight_floats __attribute__((vector_size(32)));
typedef double eight_doubles __attribute__((vector_size(64)));
static const words ONES = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

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

/* count floats, a multiple of 16; a number's exponent is least or more. */
static void take_apart(const float *from, int count, int least, int fraction, int32_t *digits, int32_t *exponents)
{
    for (int j = 0; j < count; j += ROWS) {
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

/* Factors of a block of products, a's by rows: digits 2^(exponent - FRACTION), of a sum - OF_SUM. */
struct terms {
    words a[K_MAX], of_a[K_MAX];
    int32_t b[K_MAX][COLUMNS], of_b[K_MAX][COLUMNS];
};

/* d = (sum of the three) 2^exponent, cut, of eight rows. A double holds the sum; its last bits are taken away. */
static void cut_eight(float *d, const int32_t *first, const int32_t *second, const int32_t *third,
                      const int32_t *exponent)
{
    eight_words a, b, c, e;
    memcpy(&a, first, sizeof a), memcpy(&b, second, sizeof b), memcpy(&c, third, sizeof c);
    memcpy(&e, exponent, sizeof e);
    const eight_doubles sum = __builtin_convertvector(a, eight_doubles) + __builtin_convertvector(b, eight_doubles) +
                              __builtin_convertvector(c, eight_doubles);
    const eight_longs kept = (eight_longs)sum & ~(int64_t)0x1FFFFFFF;
    const eight_longs factor = (__builtin_convertvector(e, eight_longs) + 1023) << 52;
    const eight_doubles value = (eight_doubles)kept * (eight_doubles)factor;
    const eight_longs small = (value < 0x1p-126) & (value > -0x1p-126) & (value != 0);
    const eight_floats result = __builtin_convertvector(value, eight_floats);
    memcpy(d, &result, sizeof result);
    int64_t any = 0;
    for (int y = 0; y < 8; y++)
        any |= small[y];
    for (int y = 0; any && y < 8; y++) /* not normal: fewer bits are kept */
        d[y] = cut((int64_t)sum[y], exponent[y]);
}

/* Column x of d plus count products, an even number, from depth first on. */
static void add(float d[ROWS], const terms &t, int x, int first, int count, int bits)
{
    words c, of_c, top, even = {}, odd = {}; /* all in one might not fit */
    take_apart(d, ROWS, -126, OF_SUM, (int32_t *)&c, (int32_t *)&of_c);
    top = of_c > -133 ? of_c : ONES * -133;
    for (int k = first; k < first + count; k++) {
        const words of = t.of_a[k] + t.of_b[k][x];
        top = of > top ? of : top;
    }
    const auto add_product = [&](int k, words *sum) {
        const words product = t.a[k] * t.b[k][x], right = top - t.of_a[k] - t.of_b[k][x];
        const words size =
            ((product < 0 ? -product : product) << (bits - 2 * FRACTION)) >> (right < 31 ? right : ONES * 31);
        *sum += product < 0 ? -size : size;
    };
    for (int k = first; k < first + count; k += 2)
        add_product(k, &even), add_product(k + 1, &odd);
    const words right = top - of_c;
    const words size = ((c < 0 ? -c : c) << (bits - OF_SUM)) >> (right < 31 ? right : ONES * 31);
    c = c < 0 ? -size : size;
    top -= bits;
    for (int y = 0; y < ROWS; y += 8)
        cut_eight(d + y, (int32_t *)&even + y, (int32_t *)&odd + y, (int32_t *)&c + y, (int32_t *)&top + y);
}

/* Infinity and NaN, which no shift moves, among what is added: what floats make of them. */
static bool no_number(float d, const float *a, const float (*b)[COLUMNS], int k, int x, float *what)
{
    double sum = d;
    for (int j = 0; j < k; j++)
        sum += (double)a[j] * (double)b[j][x];
    *what = std::isnan(sum) ? float_of(0x7FFFFFFF) : (float)sum;
    return !std::isfinite(sum);
}

/* Of a 16 x k matrix and of the k x 8 one. */
static void take_factors(terms *t, const float *a, const float (*b)[COLUMNS], int k, int least)
{
    float by_rows[K_MAX][ROWS];
    for (int y = 0; y < ROWS; y++)
        for (int j = 0; j < k; j++)
            by_rows[j][y] = a[y * k + j];
    take_apart(by_rows[0], k * ROWS, least, FRACTION, (int32_t *)t->a, (int32_t *)t->of_a);
    take_apart(b[0], k * COLUMNS, least, FRACTION, t->b[0], t->of_b[0]);
}

void tensor_core(float d[][COLUMNS], const float *a, const float (*b)[COLUMNS], int k, element of, unsigned arch)
{
    const int at_once = std::min(k, arch >= 90 ? (of == element::TF32 ? 8 : 16) : of == element::TF32 ? 4 : 8);
    const int bits = arch >= 90 ? 25 : 24, least = of == element::F16 ? -14 : -126;
    const bool numbers = finite(b[0], k * COLUMNS) && finite(a, ROWS * k);
    float sums[COLUMNS][ROWS], before[ROWS], what;
    terms t;
    take_factors(&t, a, b, k, least);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            sums[x][y] = d[y][x];
    for (int x = 0; x < COLUMNS; x++)
        for (int j = 0; j < k; j += at_once) {
            memcpy(before, sums[x], sizeof before);
            add(sums[x], t, x, j, at_once, bits);
            if (numbers && finite(before, ROWS))
                continue;
            for (int y = 0; y < ROWS; y++)
                if (no_number(before[y], a + y * k + j, b + j, at_once, x, &what))
                    sums[x][y] = what;
        }
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            d[y][x] = sums[x][y];
}
} // namespace ptx
