/*
 * gradient_operand.cuh - dz, the gradient of a convolution's result before its ReLU, as an operand of a product. What dz is
 * made of is the matter of a source, a struct with
 *   gradient_quad(&s, n, p, q, k, inside)    dz[n,p,q,k..k+3], of which inside are wanted, 0 for the others
 *   s.p, s.q, s.k                            the extents of one image
 *
 *   gradient_by_filter  lines are filters k, depths are positions (n*P + p)*Q + q: dW
 *   gradient_by_tap     lines are pixels of x, depths are (i*taps_s + j)*K + k, the taps that reach the pixel: dX
 */
#ifndef GRADUS_GRADIENT_OPERAND_CUH
#define GRADUS_GRADIENT_OPERAND_CUH

#include "kernels/cuda/conv_phase.cuh"
#include "kernels/cuda/matrix_operand.cuh"

/* dz = dY, or dY [y > 0]. */
typedef struct {
    const float *dy, *y; /* [N,P,Q,K]; y: ReLU's mask or NULL */
    int p, q, k;
} plain_gradient;

GR_DEVICE quad gradient_quad(const plain_gradient *s, int n, int p, int q, int k, int inside)
{
    return quad_masked(s->dy, s->y, (((int64_t)n * s->p + p) * s->q + q) * s->k + k, inside, s->k % QUAD == 0);
}

template <class SOURCE> struct gradient_by_filter {
    enum { LINES_SIDE_BY_SIDE = 1 };
    SOURCE source;
    int64_t n;
    digits step; /* DEPTH positions */
    typedef struct {
        int k;
        digits position;
    } cursor;
};

template <class SOURCE> static inline gradient_by_filter<SOURCE> gradient_filters(const SOURCE &s, int64_t n)
{
    return (gradient_by_filter<SOURCE>){s, n, digits_of(DEPTH, (radices){s.p, s.q})};
}

template <class SOURCE, class CURSOR>
GR_DEVICE void operand_open(const gradient_by_filter<SOURCE> *o, CURSOR *c, int64_t line, int64_t depth)
{
    c->k = (int)line;
    c->position = digits_of(depth, (radices){o->source.p, o->source.q});
}

template <class SOURCE, class CURSOR> GR_DEVICE quad operand_next(const gradient_by_filter<SOURCE> *o, CURSOR *c, int64_t)
{
    const digits at = c->position;
    const int inside = at.high < o->n ? o->source.k - c->k : 0;
    c->position = digits_add(at, o->step, (radices){o->source.p, o->source.q});
    return gradient_quad(&o->source, at.high, at.middle, at.low, c->k, inside);
}

template <class SOURCE> struct gradient_by_tap {
    enum { LINES_SIDE_BY_SIDE = 0 };
    SOURCE source;
    int64_t pixels; /* of the phase, in all images */
    conv_phase phase;
    digits step; /* DEPTH taps and filters */
    typedef struct {
        int n, p, q; /* the position whose first tap of the phase reaches the pixel; tap (i, j) is that of (p - i, q - j) */
        digits tap;
    } cursor;
};

template <class SOURCE> static inline gradient_by_tap<SOURCE> gradient_taps(const SOURCE &s, int64_t n, const conv_phase *f)
{
    return (gradient_by_tap<SOURCE>){s, n * f->rows * f->columns, *f, digits_of(DEPTH, (radices){f->taps_s, s.k})};
}

template <class SOURCE, class CURSOR>
GR_DEVICE void operand_open(const gradient_by_tap<SOURCE> *o, CURSOR *c, int64_t line, int64_t depth)
{
    const conv_phase *f = &o->phase;
    const digits pixel = digits_of(line, (radices){f->rows, f->columns});
    c->n = pixel.high;
    c->p = line < o->pixels ? pixel.middle + f->reach_h : INT32_MIN / 2; /* above every position */
    c->q = pixel.low + f->reach_w;
    c->tap = digits_of(depth, (radices){f->taps_s, o->source.k});
}

/* dz at the position whose tap is given, filters tap.low on. */
template <class SOURCE, class CURSOR>
GR_DEVICE quad gradient_at_tap(const gradient_by_tap<SOURCE> *o, const CURSOR *c, digits tap, int inside)
{
    const int p = c->p - tap.high, q = c->q - tap.middle;
    const bool position = (unsigned)p < (unsigned)o->source.p && (unsigned)q < (unsigned)o->source.q;
    const bool there = position && tap.high < o->phase.taps_r;
    return there ? gradient_quad(&o->source, c->n, p, q, tap.low, inside) : (quad){{0, 0, 0, 0}};
}

template <class SOURCE, class CURSOR> GR_DEVICE quad operand_next(const gradient_by_tap<SOURCE> *o, CURSOR *c, int64_t)
{
    const radices taps = {o->phase.taps_s, o->source.k};
    quad v;
    if (o->source.k % QUAD == 0) {
        v = gradient_at_tap(o, c, c->tap, QUAD);
    } else {
        digits tap = c->tap;
#pragma unroll
        for (int j = 0; j < QUAD; j++, tap = digits_next(tap, taps))
            v.at[j] = gradient_at_tap(o, c, tap, 1).at[0];
    }
    c->tap = digits_add(c->tap, o->step, taps);
    return v;
}

#endif
