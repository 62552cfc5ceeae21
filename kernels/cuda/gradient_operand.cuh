/*
 * gradient_operand.cuh - dz, the gradient of a convolution's result before its ReLU, as an operand of a product. What
 * dz is made of is the matter of a source, a struct with
 *   gradient_piece(&s, n, p, q, k, inside)   16 bytes from dz[n,p,q,k] on, of which inside are wanted, 0 for the others
 *   s.p, s.q, s.k                            the extents of one image
 *   DIRECT                                   1: dz lies in memory where gradient_direct(&s), then at gradient_at(&s, n,
 *                                            p, q, k)
 *
 *   gradient_by_filter  lines are filters k, depths are positions (n*P + p)*Q + q: dW
 *   gradient_by_tap     lines are pixels of x, depths are (i*taps_s + j)*K + k, the taps that reach the pixel: dX
 */
#ifndef GRADUS_GRADIENT_OPERAND_CUH
#define GRADUS_GRADIENT_OPERAND_CUH

#include "kernels/cuda/conv_phase.cuh"
#include "kernels/cuda/matrix_operand.cuh"

/* dz = dY, or dY [y > 0]. */
template <class E> struct plain_gradient {
    enum { DIRECT = 1, HEAVY = 0 };
    typedef E element;
    const E *dy, *y; /* [N,P,Q,K]; y: ReLU's mask or NULL */
    int p, q, k;
};

template <class E> GR_DEVICE bool gradient_direct(const plain_gradient<E> *s)
{
    return !s->y && s->k % piece<E>::COUNT == 0;
}

template <class E> GR_DEVICE const E *gradient_at(const plain_gradient<E> *s, int n, int p, int q, int k)
{
    return s->dy + (((int64_t)n * s->p + p) * s->q + q) * s->k + k;
}

template <class E> GR_DEVICE piece<E> gradient_piece(const plain_gradient<E> *s, int n, int p, int q, int k, int inside)
{
    const bool whole = s->k % piece<E>::COUNT == 0;
    const E *from = gradient_at(s, n, p, q, k);
    const piece<E> v = piece_inside(from, inside, whole);
    return s->y ? piece_masked(v, piece_inside(s->y + (from - s->dy), inside, whole)) : v;
}

template <class SOURCE> struct gradient_by_filter {
    enum { LINES_SIDE_BY_SIDE = 1, DIRECT = SOURCE::DIRECT, HEAVY = SOURCE::HEAVY };
    typedef typename SOURCE::element element;
    SOURCE source;
    int64_t n;
    digits step; /* DEPTH<element> positions */
    typedef struct {
        int k;
        digits position;
    } cursor;
};

template <class SOURCE> static inline gradient_by_filter<SOURCE> gradient_filters(const SOURCE &s, int64_t n)
{
    return gradient_by_filter<SOURCE>{s, n, digits_of(DEPTH<typename SOURCE::element>, (radices){s.p, s.q})};
}

template <class SOURCE, class CURSOR>
GR_DEVICE void operand_open(const gradient_by_filter<SOURCE> *o, CURSOR *c, int64_t line, int64_t depth)
{
    c->k = (int)line;
    c->position = digits_of(depth, (radices){o->source.p, o->source.q});
}

template <class SOURCE> GR_DEVICE bool operand_direct(const gradient_by_filter<SOURCE> *o)
{
    return gradient_direct(&o->source);
}

template <class SOURCE, class CURSOR>
GR_DEVICE const typename SOURCE::element *operand_place(const gradient_by_filter<SOURCE> *o, CURSOR *c, int64_t,
                                                        int *inside)
{
    const digits at = c->position;
    *inside = at.high < o->n ? at_most_a_piece<typename SOURCE::element>(o->source.k - c->k) : 0;
    c->position = digits_add(at, o->step, (radices){o->source.p, o->source.q});
    return *inside ? gradient_at(&o->source, at.high, at.middle, at.low, c->k) : o->source.dy;
}

template <class SOURCE, class CURSOR>
GR_DEVICE piece<typename SOURCE::element> operand_next(const gradient_by_filter<SOURCE> *o, CURSOR *c, int64_t)
{
    const digits at = c->position;
    const int inside = at.high < o->n ? o->source.k - c->k : 0;
    c->position = digits_add(at, o->step, (radices){o->source.p, o->source.q});
    return gradient_piece(&o->source, at.high, at.middle, at.low, c->k, inside);
}

template <class SOURCE> struct gradient_by_tap {
    enum { LINES_SIDE_BY_SIDE = 0, DIRECT = SOURCE::DIRECT, HEAVY = SOURCE::HEAVY };
    typedef typename SOURCE::element element;
    SOURCE source;
    int64_t pixels; /* of the phase, in all images */
    conv_phase phase;
    digits step; /* DEPTH<element> taps and filters */
    typedef struct {
        int n, p,
            q; /* the position whose first tap of the phase reaches the pixel; tap (i, j) is that of (p - i, q - j) */
        digits tap;
    } cursor;
};

template <class SOURCE>
static inline gradient_by_tap<SOURCE> gradient_taps(const SOURCE &s, int64_t n, const conv_phase *f)
{
    const digits step = digits_of(DEPTH<typename SOURCE::element>, (radices){f->taps_s, s.k});
    return gradient_by_tap<SOURCE>{s, n * f->rows * f->columns, *f, step};
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

template <class SOURCE> GR_DEVICE bool operand_direct(const gradient_by_tap<SOURCE> *o)
{
    return gradient_direct(&o->source);
}

/* Whether the tap reaches the cursor's pixel, and from where. */
template <class SOURCE, class CURSOR>
GR_DEVICE bool tap_reaches(const gradient_by_tap<SOURCE> *o, const CURSOR *c, digits tap, int *p, int *q)
{
    *p = c->p - tap.high, *q = c->q - tap.middle;
    const bool position = (unsigned)*p < (unsigned)o->source.p && (unsigned)*q < (unsigned)o->source.q;
    return position && tap.high < o->phase.taps_r;
}

template <class SOURCE, class CURSOR>
GR_DEVICE const typename SOURCE::element *operand_place(const gradient_by_tap<SOURCE> *o, CURSOR *c, int64_t,
                                                        int *inside)
{
    const digits tap = c->tap;
    int p, q;
    *inside = tap_reaches(o, c, tap, &p, &q) ? (int)piece<typename SOURCE::element>::COUNT : 0;
    c->tap = digits_add(tap, o->step, (radices){o->phase.taps_s, o->source.k});
    return *inside ? gradient_at(&o->source, c->n, p, q, tap.low) : o->source.dy;
}

/* dz at the position whose tap is given, filters tap.low on. */
template <class SOURCE, class CURSOR>
GR_DEVICE piece<typename SOURCE::element> gradient_at_tap(const gradient_by_tap<SOURCE> *o, const CURSOR *c, digits tap,
                                                          int inside)
{
    int p, q;
    const bool there = tap_reaches(o, c, tap, &p, &q);
    return there ? gradient_piece(&o->source, c->n, p, q, tap.low, inside) : piece<typename SOURCE::element>{};
}

template <class SOURCE, class CURSOR>
GR_DEVICE piece<typename SOURCE::element> operand_next(const gradient_by_tap<SOURCE> *o, CURSOR *c, int64_t)
{
    typedef piece<typename SOURCE::element> PIECE;
    const radices taps = {o->phase.taps_s, o->source.k};
    PIECE v;
    if (o->source.k % PIECE::COUNT == 0) {
        v = gradient_at_tap(o, c, c->tap, PIECE::COUNT);
    } else {
        digits tap = c->tap;
#pragma unroll
        for (int j = 0; j < PIECE::COUNT; j++, tap = digits_next(tap, taps))
            v.at[j] = gradient_at_tap(o, c, tap, 1).at[0];
    }
    c->tap = digits_add(c->tap, o->step, taps);
    return v;
}

#endif
