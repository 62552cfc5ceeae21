/*
 * gelu.c - gelu: y = x Phi(x), dX = dY (Phi(x) + x phi(x)); Phi the normal distribution, phi its density.
 *
 * The lower tail is the density times a function that varies little:
 *
 *   Phi(-z) = exp(-z^2 / 2) h(q) / (z + 4),  q = (z - 4) / (z + 4),  0 <= z <= 13
 *
 * (Mills' ratio, the argument moved to a short interval as in Shepherd, Laframboise 1981, "Chebyshev approximation of
 * (1 + 2x) exp(x^2) erfc x"). h is a polynomial through its Chebyshev nodes, computed in 40 digits, and 1.1e-8 from the
 * function; so the tail keeps its digits where 1 - erf would lose them. Beyond 13 it is below the smallest float.
 *
 * There are 4,608 numbers of bf16 from 2^-14 to 16 in size: theirs are looked up. Smaller ones take the values at
 * 2^-14, of which they are 2^-14 away; larger ones those at 16, where Phi is 0 or 1 to the last bit of a float.
 */
#include <pthread.h>

#include "core/half.h"
#include "kernels/cpu/any_float.h"
#include "kernels/cpu/elements.h"

#define FAR 13.0f
#define ROUND 12582912.0f /* 1.5 2^23: a float that was added to it has no fraction left */
#define LOG2_E 1.44269504f
#define LN2_HIGH 0.693359375f /* ten bits: its products with exponents are exact */
#define LN2_LOW -2.12194440e-4f
#define DENSITY_AT_0 0.398942280f

typedef struct {
    int64_t count;
    gr_type type;
    const void *x, *dy; /* [count] */
    void *out;          /* [count]: y or dX */
    bool accumulate;
} plan;

/* c[0] + c[1] x + ... */
INLINE vec polynomial(vec x, int degree, const float *c)
{
    vec sum = vec_all(c[degree]);
    UNROLL
    for (int i = degree - 1; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* 2^shifted exp(r): shifted has ROUND added. exp through Chebyshev nodes, 2.6e-9. */
INLINE vec exponential(vec shifted, vec r)
{
    static const float c[] = {1.0f,           1.000000039f,    0.5000000048f,  0.1666641135f,
                              0.04166634769f, 0.008375471851f, 0.001394153989f};
    const ivec exponent = (ivec)shifted - (ivec)vec_all(ROUND) + 127;
    return polynomial(r, 6, c) * (vec)(exponent << 23);
}

/*
 * exp(-z^2 / 2) for z up to FAR. The exponential would make up to 169 times as much of z^2's own rounding; so a float z
 * is cut into 12 leading bits, whose square is exact, and the rest.
 */
INLINE vec exp_of_half_square(vec z)
{
    const vec high = (vec)((ivec)z & ~0xfff), square = high * high * 0.5f;
    const vec shifted = ROUND - square * LOG2_E, n = shifted - ROUND;
    return exponential(shifted, -square - n * LN2_HIGH - n * LN2_LOW - (z - high) * (z + high) * 0.5f);
}

/* h(q), 1.1e-8 from it. */
INLINE vec varying(vec q)
{
    static const float c[] = {0.7552851376f,    -0.6078966428f,   0.3871367201f,   -0.1865219905f,   0.06040685519f,
                              -0.007534081622f, -0.003531226238f, 0.001580528864f, 0.0002165197531f, -0.000113815705f};
    return polynomial(q, 9, c);
}

/* Phi(x), and exp(-x^2 / 2); both 0 in the lower tail where no float is left. */
INLINE vec normal(vec x, vec *bell)
{
    const vec size = (vec)((ivec)x & INT32_MAX);
    const mask far = vec_less(vec_all(FAR), size);
    const vec z = vec_select(far, vec_all(FAR), size), e = exp_of_half_square(z), share = 1 / (z + 4);
    const vec tail = vec_select(far, (vec){0}, e * varying((z - 4) * share) * share);
    *bell = vec_select(far, (vec){0}, e);
    return vec_select(vec_less(x, (vec){0}), tail, 1 - tail);
}

/* The product with an infinite x is 0 where the other factor is. */
INLINE vec product(vec x, vec factor)
{
    return vec_select(vec_not_at_most(factor, (vec){0}), x * factor, (vec){0});
}

/* --- bf16 --------------------------------------------------------------------------------------------------------- */

enum { LEAST = 0x3880 /* 2^-14 */, MOST = 0x417F /* the last one below 16 */, SIZES = MOST - LEAST + 1 };

static float shares[2 * SIZES], slopes[2 * SIZES]; /* Phi(x) and Phi(x) + x phi(x); of -x behind those of x */
static pthread_once_t tables_are_filled = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    for (int i = 0; i < 2 * SIZES; i++) {
        const double size = gr__bf16_value((uint16_t)(LEAST + i % SIZES)), x = i < SIZES ? size : -size;
        const double share = erfc(-x * M_SQRT1_2) / 2;
        shares[i] = (float)share;
        slopes[i] = (float)(share + x * exp(-x * x / 2) * M_2_SQRTPI * M_SQRT1_2 / 2);
    }
}

INLINE vec looked_up(const float *table, vec x)
{
    const ivec bits = (ivec)x, size = bits >> 16 & INT16_MAX;
    const ivec above = ivec_select(ivec_less(size, LEAST), ivec_all(LEAST), size);
    const ivec within = ivec_select(ivec_less(above, MOST), above, ivec_all(MOST));
    const vec found = vec_look_up(table, within - LEAST + (bits >> 31 & SIZES));
    return vec_select(vec_not_at_most(x, x), x, found); /* NaN */
}

/* --- passes ------------------------------------------------------------------------------------------------------- */

INLINE void result_at(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec x = load_as_n(f->type, f->x, i, n);
    vec bell;
    store_as_n(f->type, f->out, i, product(x, f->type == GR_BF16 ? looked_up(shares, x) : normal(x, &bell)), n);
}

INLINE vec slope(gr_type type, vec x)
{
    if (type == GR_BF16)
        return looked_up(slopes, x);
    vec bell;
    const vec share = normal(x, &bell);
    return share + product(x, bell) * DENSITY_AT_0;
}

INLINE void gradient_at(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec dx = load_as_n(f->type, f->dy, i, n) * slope(f->type, load_as_n(f->type, f->x, i, n));
    store_as_n(f->type, f->out, i, f->accumulate ? load_as_n(f->type, f->out, i, n) + dx : dx, n);
}

/* A copy whose type the compiler sees. */
INLINE plan of_type(const plan *f, gr_type type)
{
    plan known = *f;
    known.type = type;
    return known;
}

INLINE void result(const plan *f, gr_type type, int64_t chunk)
{
    const plan known = of_type(f, type);
    each_vector(result_at, &known, f->count, chunk);
}
BY_TYPE(plan, result)

INLINE void gradient(const plan *f, gr_type type, int64_t chunk)
{
    const plan known = of_type(f, type);
    each_vector(gradient_at, &known, f->count, chunk);
}
BY_TYPE(plan, gradient)

bool GR_CPU(gelu_halves)(const gr_call *call, gr_pass pass)
{
    return gr__halves_by_type(&gr__ops[GR_OP_gelu], call, pass);
}

void GR_CPU(gelu_forward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0];
    plan f = {.count = x->count, .type = x->type, .x = x->data, .out = call->out[0]->data};
    pthread_once(&tables_are_filled, fill_tables);
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), result_chunk, &f);
}

void GR_CPU(gelu_backward)(const gr_call *call)
{
    const gr_tensor *x = call->in[0];
    if (!call->d_in[0])
        return;
    plan f = {.count = x->count,
              .type = x->type,
              .x = x->data,
              .dy = call->d_out[0]->data,
              .out = call->d_in[0]->data,
              .accumulate = call->accumulate & 1};
    pthread_once(&tables_are_filled, fill_tables);
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), gradient_chunk, &f);
}
