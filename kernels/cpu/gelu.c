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
 * Halves are widened in registers. Numbers of bf16 have eight bits: their squares are exact, and shorter polynomials
 * do. A gradient, which passes through 0 at -0.75, keeps four times as many bits of its terms as a result.
 */
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

/* How accurate the functions are: as floats, or as what bf16 shows of a gradient or of a result. */
typedef enum { FLOATS, BF16_GRADIENT, BF16_RESULT } accuracy;

INLINE accuracy accuracy_for(gr_type type, accuracy of_bf16)
{
    return type == GR_BF16 ? of_bf16 : FLOATS;
}

/*
 * 2^shifted exp(r): shifted has ROUND added. Coefficients: exp through Chebyshev nodes, 2.6e-9; those of the least
 * relative error, 2.6e-6 and 7.5e-5.
 */
INLINE vec exponential(vec shifted, vec r, accuracy to)
{
    static const float c[] = {1.0f,           1.000000039f,    0.5000000048f,  0.1666641135f,
                              0.04166634769f, 0.008375471851f, 0.001394153989f};
    static const float c4[] = {0.9999992614f, 0.9999634049f, 0.5000435881f, 0.1679090715f, 0.04145859538f};
    static const float c3[] = {0.9999280738f, 1.000164193f, 0.5049632601f, 0.1656683465f};
    const ivec exponent = (ivec)shifted - (ivec)vec_all(ROUND) + 127;
    const vec power = to == FLOATS          ? polynomial(r, 6, c)
                      : to == BF16_GRADIENT ? polynomial(r, 4, c4)
                                            : polynomial(r, 3, c3);
    return power * (vec)(exponent << 23);
}

/*
 * exp(-z^2 / 2) for z up to FAR. The exponential would make up to 169 times as much of z^2's own rounding; so a float z
 * is cut into 12 leading bits, whose square is exact, and the rest.
 */
INLINE vec exp_of_half_square(vec z, accuracy to)
{
    const vec high = to == FLOATS ? (vec)((ivec)z & ~0xfff) : z, square = high * high * 0.5f;
    const vec shifted = ROUND - square * LOG2_E, n = shifted - ROUND;
    vec r = -square - n * LN2_HIGH - n * LN2_LOW;
    if (to == FLOATS)
        r -= (z - high) * (z + high) * 0.5f;
    return exponential(shifted, r, to);
}

/* h(q), 1.1e-8, 2.3e-6 and 4.4e-5 from it: the latter two by the least relative error. */
INLINE vec varying(vec q, accuracy to)
{
    static const float c[] = {0.7552851376f,    -0.6078966428f,   0.3871367201f,   -0.1865219905f,   0.06040685519f,
                              -0.007534081622f, -0.003531226238f, 0.001580528864f, 0.0002165197531f, -0.000113815705f};
    static const float c6[] = {0.7552868115f,  -0.6078930388f,   0.387046311f,    -0.1865854136f,
                               0.06110144918f, -0.006954479908f, -0.004862874542f};
    static const float c4[] = {0.7552862134f, -0.6076189583f, 0.3869528856f, -0.1895724756f, 0.06049931764f};
    return to == FLOATS ? polynomial(q, 9, c) : to == BF16_GRADIENT ? polynomial(q, 6, c6) : polynomial(q, 4, c4);
}

/* Phi(x), and exp(-x^2 / 2); both 0 in the lower tail where no float is left. */
INLINE vec normal(vec x, vec *bell, accuracy to)
{
    const vec size = (vec)((ivec)x & INT32_MAX);
    const mask far = vec_less(vec_all(FAR), size);
    const vec z = vec_select(far, vec_all(FAR), size), e = exp_of_half_square(z, to);
    const vec share = to == BF16_RESULT ? vec_approximate_reciprocal(z + 4) : 1 / (z + 4);
    const vec tail = vec_select(far, (vec){0}, e * varying((z - 4) * share, to) * share);
    *bell = vec_select(far, (vec){0}, e);
    return vec_select(vec_less(x, (vec){0}), tail, 1 - tail);
}

/* The product with an infinite x is 0 where the other factor is. */
INLINE vec product(vec x, vec factor)
{
    return vec_select(vec_not_at_most(factor, (vec){0}), x * factor, (vec){0});
}

INLINE void result_at(const void *arg, gr_type type, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec x = load_as_n(type, f->x, i, n);
    vec bell;
    store_as_n(type, f->out, i, product(x, normal(x, &bell, accuracy_for(type, BF16_RESULT))), n);
}

INLINE void gradient_at(const void *arg, gr_type type, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec x = load_as_n(type, f->x, i, n);
    vec bell;
    const vec share = normal(x, &bell, accuracy_for(type, BF16_GRADIENT));
    const vec dx = load_as_n(type, f->dy, i, n) * (share + product(x, bell) * DENSITY_AT_0);
    store_as_n(type, f->out, i, f->accumulate ? load_as_n(type, f->out, i, n) + dx : dx, n);
}

INLINE void result(const plan *f, gr_type type, int64_t chunk)
{
    each_vector_as(result_at, f, type, f->count, chunk);
}
BY_TYPE(plan, result)

INLINE void gradient(const plan *f, gr_type type, int64_t chunk)
{
    each_vector_as(gradient_at, f, type, f->count, chunk);
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
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), gradient_chunk, &f);
}
