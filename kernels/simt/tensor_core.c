/*
 * tensor_core.c - how a tensor core adds. It takes the sum so far and some products at once, moves all of them to the
 * exponent of the largest, where each is cut behind the last bit that is kept, adds them exactly and cuts the result to
 * a float. Nothing is rounded to the nearest: all that is lost pulls towards 0.
 *
 *   d = cut23(2^E sum of cutF(2^-E c), cutF(2^-E a[0] b[0]), ..., cutF(2^-E a[L-1] b[L-1]))
 *
 *   cutn  n bits behind the binary point, towards 0
 *   E     the largest exponent; a product's is the sum of its factors', so that of 1.5 x 1.5 is 0; a subnormal's is
 *         that of its format's least normal number; 0 has none
 *
 *           L, of f16 and bf16   of tf32    F
 *   sm_75        8                          24
 *   sm_80        8                  4       24
 *   sm_90       16                  8       25
 *
 * NVIDIA does not say so. It was found by others on the hardware:
 *   F. A. Khattak, M. Mikaitis, Accurate Models of NVIDIA Tensor Cores, arXiv 2512.07004: V100, A100, H100 and others
 *     (their models: github.com/north-numerical-computing/MATLAB-tensor-core); the least E is theirs
 *   MMA-Sim, arXiv 2511.10909: each instruction of Volta, Turing, Ampere, Hopper and others; L and F above are those of
 *     github.com/microsoft/MMA-Sim
 *   M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical Behavior of NVIDIA Tensor Cores, PeerJ Computer Science
 *     7:e330, 2021: V100, T4, A100
 */
#include <math.h>
#include <string.h>

#include "kernels/simt/half.h"
#include "kernels/simt/tensor_core.h"

enum {
    NOTHING = -10000,   /* the exponent of 0 */
    NO_NUMBER = 100000, /* of infinity and NaN: larger than every product's, one by 0 too */
    LARGEST = 1000,     /* a limit to those of numbers */
    LEAST = -133,       /* E is no less */
    LEAST_OF_F16 = -14, /* exponents of the least normal numbers */
    LEAST_OF_FLOAT = -126,
    ONE = 127 /* a float's exponent 0 */
};

typedef double row __attribute__((vector_size(GR__TENSOR_N * sizeof(double))));
typedef float floats __attribute__((vector_size(GR__TENSOR_N * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(GR__TENSOR_N * sizeof(int32_t))));
typedef int64_t longs __attribute__((vector_size(GR__TENSOR_N * sizeof(int64_t))));

/* a where which is -1, else b. */
static ints either(ints which, ints a, ints b)
{
    return (a & which) | (b & ~which);
}

static ints larger(ints a, ints b)
{
    return either(a > b, a, b);
}

static ints exponents_of(floats v, int least)
{
    const ints e = ((ints)v >> 23 & 255) - ONE, known = larger(e, (ints){0} + least);
    return either(v == 0, (ints){0} + NOTHING, either(e == 255 - ONE, (ints){0} + NO_NUMBER, known));
}

/* 2^n */
static row power(ints n)
{
    return (row)((__builtin_convertvector(n, longs) + 1023) << 52);
}

/* Whole numbers, towards 0; |v| < 2^31. */
static row cut(row v)
{
    return __builtin_convertvector(__builtin_convertvector(v, ints), row);
}

/* Floats, towards 0; infinite from 2^128 on. */
static floats cut_to_floats(row v)
{
    const row kept = (row)((longs)v & ~((INT64_C(1) << 29) - 1)), subnormal = cut(v * 0x1p149) * 0x1p-149;
    const longs small = (longs)((v < 0x1p-126) & (v > -0x1p-126));
    return __builtin_convertvector((row)(((longs)subnormal & small) | ((longs)kept & ~small)), floats);
}

typedef struct {
    double a[GR__TENSOR_M][GR__TENSOR_K];
    int of_a[GR__TENSOR_M][GR__TENSOR_K]; /* exponents */
    row b[GR__TENSOR_K];
    ints of_b[GR__TENSOR_K];
} factors;

/* The float's sum of a row where it is no number: infinity and NaN go as they go everywhere. */
static void no_numbers(floats *d, floats c, const double *a, const row *b, int count)
{
    row sum = __builtin_convertvector(c, row);
    for (int k = 0; k < count; k++)
        sum += a[k] * b[k];
    for (int x = 0; x < GR__TENSOR_N; x++)
        if (!isfinite(sum[x]))
            (*d)[x] = isnan(sum[x]) ? gr__float_of(0x7FFFFFFF) : (float)sum[x];
}

/* Products that are added at once, and the bits that are kept of each behind the binary point. */
typedef struct {
    int at_once, bits;
} kind;

static kind kind_of(int capability, bool tf32)
{
    if (capability >= 90)
        return (kind){tf32 ? 8 : 16, 25};
    return (kind){tf32 ? 4 : 8, 24};
}

/* Row i of results, and the products that are added at once from the k-th on. */
static floats add_at_once(floats c, const factors *f, int i, int k, kind of)
{
    const double *a = f->a[i] + k;
    const row *b = f->b + k;
    ints e = larger(exponents_of(c, LEAST_OF_FLOAT), (ints){0} + LEAST);
    for (int j = 0; j < of.at_once; j++)
        e = larger(e, f->of_a[i][k + j] + f->of_b[k + j]);
    const row scale = power(of.bits - e);
    row sum = cut(__builtin_convertvector(c, row) * scale);
    for (int j = 0; j < of.at_once; j++)
        sum += cut(a[j] * b[j] * scale);
    floats d = cut_to_floats(sum * power(e - of.bits));
    int numbers = 1;
    for (int x = 0; x < GR__TENSOR_N; x++)
        numbers &= e[x] < LARGEST;
    if (!numbers)
        no_numbers(&d, c, a, b, of.at_once);
    return d;
}

static floats load(const float from[GR__TENSOR_N])
{
    floats v;
    memcpy(&v, from, sizeof v);
    return v;
}

static void take(factors *f, const gr__simt_factors *from, int depth, int least)
{
    for (int i = 0; i < GR__TENSOR_M; i++)
        for (int k = 0; k < depth; k += GR__TENSOR_N) {
            const floats a = load(from->a[i] + k);
            const row wide = __builtin_convertvector(a, row);
            const ints e = exponents_of(a, least);
            memcpy(f->a[i] + k, &wide, sizeof wide);
            memcpy(f->of_a[i] + k, &e, sizeof e);
        }
    for (int k = 0; k < depth; k++) {
        const floats b = load(from->b[k]);
        f->b[k] = __builtin_convertvector(b, row);
        f->of_b[k] = exponents_of(b, least);
    }
}

/* Most of an emulated matrix product is spent here: compiled for wider vectors, too, where the compiler can. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
__attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void gr__simt_tensor_core(float d[GR__TENSOR_M][GR__TENSOR_N], const gr__simt_factors *from, gr__simt_collective op,
                          int capability)
{
    const bool tf32 = op == GR__SIMT_MMA_TF32;
    const int depth = tf32 ? 8 : 16;
    const kind of = kind_of(capability, tf32);
    factors f;
    take(&f, from, depth, op == GR__SIMT_MMA_F16 ? LEAST_OF_F16 : LEAST_OF_FLOAT);
    for (int i = 0; i < GR__TENSOR_M; i++) {
        floats sum = load(d[i]);
        for (int k = 0; k < depth; k += of.at_once)
            sum = add_at_once(sum, &f, i, k, of);
        memcpy(d[i], &sum, sizeof sum);
    }
}
