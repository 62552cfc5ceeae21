/*
 * test_tensor_cores.cc - how tensor cores add, by the emulator and by the interpreter, which share no code: what was
 * measured on the hardware, in the cases of MMA-Sim's probes (see kernels/simt/tensor_core.c), and the same bits of
 * both on random numbers.
 */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "tests/ptx/interpreter/formats.h"
#include "tests/ptx/interpreter/tensor_cores.h"
extern "C" {
#include "kernels/simt/tensor_core.h"
}

static int failures;

struct format {
    const char *name;
    gr__simt_collective op;
    ptx::element of;
    int depth;
};
static const format formats[] = {{"f16", GR__SIMT_MMA_F16, ptx::element::F16, 16},
                                 {"bf16", GR__SIMT_MMA_BF16, ptx::element::BF16, 16},
                                 {"tf32", GR__SIMT_MMA_TF32, ptx::element::TF32, 8}};

struct product {
    gr__simt_factors f;
    float d[16][8];
};

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void by_interpreter(product *p, const format &t, unsigned arch)
{
    float a[16 * 16];
    for (int i = 0; i < 16 * t.depth; i++)
        a[i] = p->f.a[i / t.depth][i % t.depth];
    ptx::tensor_core(p->d, a, p->f.b, t.depth, t.of, arch);
}

/* Both make the same of p; what they make. */
static product made(const product &p, const format &t, unsigned arch)
{
    product one = p, other = p;
    gr__simt_tensor_core(one.d, &one.f, t.op, (int)arch);
    by_interpreter(&other, t, arch);
    for (int i = 0; i < 16 * 8; i++) {
        const float x = one.d[i / 8][i % 8], y = other.d[i / 8][i % 8];
        if (bits_of(x) == bits_of(y))
            continue;
        printf("%s, sm_%u: the emulator has %a, the interpreter %a\n", t.name, arch, (double)x, (double)y);
        failures++;
        break;
    }
    return one;
}

/* --- what was measured -------------------------------------------------------------------------------------------- */

typedef std::vector<double> numbers;

/* c + sum of a[i] b[i], factors that are not given being 0. */
static double dot(const format &t, unsigned arch, const numbers &a, const numbers &b, double c)
{
    product p = {};
    for (size_t i = 0; i < a.size(); i++) {
        p.f.a[0][i] = (float)a[i];
        p.f.b[i][0] = (float)b[i];
    }
    p.d[0][0] = (float)c;
    return (double)made(p, t, arch).d[0][0];
}

static void expect(const char *what, const format &t, unsigned arch, double got, double wanted)
{
    if (bits_of((float)got) == bits_of((float)wanted))
        return;
    printf("%s, %s, sm_%u: %a, measured was %a\n", what, t.name, arch, got, wanted);
    failures++;
}

/* A large product and -c take each other away; small ones are lost if they were added at the same time. */
static void check_together(const format &t, unsigned arch, int at_once)
{
    const double large = 0x1p7, small = 0x1p-9;
    for (int i = 0; i < t.depth; i++) {
        numbers x((size_t)t.depth, small);
        x[(size_t)i] = large;
        const int behind = t.depth - (i / at_once + 1) * at_once;
        expect("a large product", t, arch, dot(t, arch, x, x, -large * large), behind * small * small);
    }
}

/* Of a number beside products of 2^p that take each other away, its last bit goes at p = bits - 23. */
static void check_bits(const format &t, unsigned arch, int bits)
{
    const double x = (2 - 0x1p-10) * 0x1p-14, last = 0x1p-24, z = 0x1p-4, y = std::ldexp(1, bits - 23 + 4);
    expect("the last bit that is kept", t, arch, dot(t, arch, {y / 2, -y / 2}, {z, z}, x), x);
    expect("the first bit that is cut", t, arch, dot(t, arch, {y, -y}, {z, z}, x), x - last);
    expect("the same of a negative number", t, arch, dot(t, arch, {y, -y}, {z, z}, -x), -x + last);
    expect("two bits", t, arch, dot(t, arch, {y, -y}, {2 * z, 2 * z}, x), x - 3 * last);
    expect("exponents of factors, not of products", t, arch, dot(t, arch, {1.5 * y, -1.5 * y}, {1.5 * z, 1.5 * z}, x),
           x - last);
    expect("a factor beyond 2", t, arch, dot(t, arch, {2.25 * y, -2.25 * y}, {z, z}, x), x - 3 * last);
}

static void check_results(const format &t, unsigned arch)
{
    const numbers quarters(4, 0.25), ones(4, 1), minus(4, -0.25);
    expect("results are cut", t, arch, dot(t, arch, quarters, ones, 0.75 * 0x1p-23), 1);
    expect("towards 0", t, arch, dot(t, arch, minus, ones, -0.75 * 0x1p-23), -1);
    expect("-0", t, arch, dot(t, arch, numbers(4, -0.0), ones, -0.0), 0);
    if (t.of == ptx::element::F16)
        return;
    const double most = 0x1.fffffep127, top = 0x1p127;
    expect("the largest float", t, arch, dot(t, arch, {0.75, 0.75}, {top, top}, most / 4), most);
    expect("beyond it", t, arch, dot(t, arch, {1, 1}, {top, top}, 0), INFINITY);
    expect("below it", t, arch, dot(t, arch, {-1, -1}, {top, top}, 0), -INFINITY);
    expect("subnormal results are cut", t, arch, dot(t, arch, {0.75 * 0x1p-23}, {0x1p-126}, 0x1p-148), 0x1p-148);
    expect("to nothing", t, arch, dot(t, arch, {0.75 * 0x1p-23}, {0x1p-126}, 0), 0);
}

static void check_measured(const format &t, unsigned arch, int at_once, int bits)
{
    check_together(t, arch, at_once);
    check_bits(t, arch, bits);
    check_results(t, arch);
}

/* --- random numbers ----------------------------------------------------------------------------------------------- */

/* One of the format, of about 2^e. */
static float drawn(const format &t, std::mt19937 &from, int e)
{
    std::uniform_real_distribution<float> fraction(-2, 2);
    const float v = std::ldexp(fraction(from), e);
    if (t.of == ptx::element::F16)
        return ptx::f16_value(ptx::f16_of(v));
    if (t.of == ptx::element::BF16)
        return ptx::bf16_value(ptx::bf16_of(v));
    const uint32_t bits = ptx::tf32_of(v);
    float rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

/* Neighbours in size; of all sizes; at the ends; with infinities, NaN and zeros. */
static product random_product(const format &t, std::mt19937 &from, int way)
{
    static const float named[] = {0, -0.0f, INFINITY, -INFINITY, NAN};
    const int widest = t.of == ptx::element::F16 ? 14 : 126;
    const int range = way == 0 ? 2 : way == 1 ? widest : 12, middle = way == 2 ? -widest : 0;
    const auto one = [&](bool factor) {
        const int e = middle + (int)(from() % (unsigned)(2 * range + 1)) - range;
        if (way == 3 && from() % 64 == 0)
            return named[from() % 5];
        return factor ? drawn(t, from, e) : std::ldexp((float)(int32_t)from(), e - 31);
    };
    product p = {};
    for (int k = 0; k < t.depth; k++) {
        for (auto &row : p.f.a)
            row[k] = one(true);
        for (float &b : p.f.b[k])
            b = one(true);
    }
    for (auto &row : p.d)
        for (float &c : row)
            c = one(false);
    return p;
}

int main()
{
    static const unsigned archs[] = {75, 80, 90};
    for (const format &t : formats)
        for (unsigned arch : archs) {
            if (arch >= 80 || t.of == ptx::element::F16)
                check_measured(t, arch, (arch == 90 ? 16 : 8) / (16 / t.depth), arch == 90 ? 25 : 24);
            std::mt19937 from(arch);
            for (int run = 0; run < 400; run++)
                made(random_product(t, from, run % 4), t, arch);
        }
    printf("%d failures\n", failures);
    return failures > 0;
}
