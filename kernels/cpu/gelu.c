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
 */
#include "kernels/cpu/elements.h"

#define FAR 13.0f
#define ROUND 12582912.0f /* 1.5 2^23: a float that was added to it has no fraction left */
#define LOG2_E 1.44269504f
#define LN2_HIGH 0.693359375f /* ten bits: its products with exponents are exact */
#define LN2_LOW -2.12194440e-4f
#define DENSITY_AT_0 0.398942280f

typedef struct {
    int64_t count;
    const float *x, *dy; /* [count] */
    float *out;          /* [count]: y or dX */
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

/*
 * exp(-z^2 / 2) for z up to FAR. The exponential would make up to 169 times as much of z^2's own rounding; so z is cut
 * into 12 leading bits, whose square is exact, and the rest. Coefficients: exp through Chebyshev nodes, 2.6e-9.
 */
INLINE vec exp_of_half_square(vec z)
{
    static const float c[] = {1.0f,           1.000000039f,    0.5000000048f,  0.1666641135f,
                              0.04166634769f, 0.008375471851f, 0.001394153989f};
    const vec high = (vec)((ivec)z & ~0xfff), rest = (z - high) * (z + high) * 0.5f;
    const vec square = high * high * 0.5f, shifted = ROUND - square * LOG2_E, n = shifted - ROUND;
    const vec r = -square - n * LN2_HIGH - n * LN2_LOW - rest;
    const ivec exponent = (ivec)shifted - (ivec)vec_all(ROUND) + 127;
    return polynomial(r, 6, c) * (vec)(exponent << 23);
}

/* Phi(x), and exp(-x^2 / 2); both 0 in the lower tail where no float is left. */
INLINE vec normal(vec x, vec *bell)
{
    static const float c[] = {0.7552851376f,    -0.6078966428f,   0.3871367201f,   -0.1865219905f,   0.06040685519f,
                              -0.007534081622f, -0.003531226238f, 0.001580528864f, 0.0002165197531f, -0.000113815705f};
    const vec size = (vec)((ivec)x & INT32_MAX);
    const mask far = vec_less(vec_all(FAR), size);
    const vec z = vec_select(far, vec_all(FAR), size), share = 1 / (z + 4), e = exp_of_half_square(z);
    const vec tail = vec_select(far, (vec){0}, e * polynomial((z - 4) * share, 9, c) * share);
    *bell = vec_select(far, (vec){0}, e);
    return vec_select(vec_less(x, (vec){0}), tail, 1 - tail);
}

/* The product with an infinite x is 0 where the other factor is. */
INLINE vec product(vec x, vec factor)
{
    return vec_select(vec_not_at_most(factor, (vec){0}), x * factor, (vec){0});
}

INLINE void result(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec x = vec_load_n(f->x + i, n);
    vec bell;
    vec_store_n(f->out + i, product(x, normal(x, &bell)), n);
}

INLINE void gradient(const void *arg, int64_t i, int64_t n)
{
    const plan *f = arg;
    const vec x = vec_load_n(f->x + i, n);
    vec bell;
    const vec share = normal(x, &bell), dx = vec_load_n(f->dy + i, n) * (share + product(x, bell) * DENSITY_AT_0);
    vec_store_n(f->out + i, f->accumulate ? vec_load_n(f->out + i, n) + dx : dx, n);
}

static void result_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    each_vector(result, f, f->count, chunk);
}

static void gradient_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    each_vector(gradient, f, f->count, chunk);
}

void GR_CPU(gelu_forward)(const gr_call *call)
{
    plan f = {.count = call->in[0]->count, .x = gr__f32(call->in[0]), .out = gr__f32(call->out[0])};
    gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), result_chunk, &f);
}

void GR_CPU(gelu_backward)(const gr_call *call)
{
    plan f = {.count = call->in[0]->count,
              .x = gr__f32(call->in[0]),
              .dy = gr__f32(call->d_out[0]),
              .out = gr__f32(call->d_in[0]),
              .accumulate = call->accumulate & 1};
    if (f.out)
        gr_parallel_for(call->exec, ceil_div(f.count, CHUNK), gradient_chunk, &f);
}
