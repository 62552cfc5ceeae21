/*
 * pooled_gradient.cuh - dA, the gradient of an activation that was max-pooled, as an operand of the products of a
 * convolution, like gradient_operand.cuh's:
 *
 *   dA[n,i,j,k] = sum of dY[n,p,q,k] over the pooling windows (p, q) whose argmax is (i, j): u*V + v, i = p*stride + u
 *   - pad
 *
 * computed where it is loaded, so the array of the activation's size never exists. Windows that do not overlap, the
 * usual ones, give one read of dY and argmax for each quad, and no sum that would have to be rounded to a half.
 */
#ifndef GRADUS_POOLED_GRADIENT_CUH
#define GRADUS_POOLED_GRADIENT_CUH

#include "kernels/cuda/conv_phase.cuh"
#include "kernels/cuda/image_operand.cuh"

enum { CLIPPED = 255 }; /* argmax where the maximum is not above 0 */

template <class E> struct pooled_gradient {
    typedef E element;
    const E *dy;           /* [N,P,Q,K] */
    const uint8_t *argmax; /* [N,P,Q,K] */
    int p, q, k;           /* extents of the activation */
    window pool;           /* over the activation; r, s: the window's extents, p, q: those of dY */
};

/* Places of four neighbouring filters, one in each byte; the first inside exist. whole: argmax is a multiple of 4. */
GR_DEVICE uint32_t places_inside(const uint8_t *argmax, int inside, bool whole)
{
    uint32_t places = 0xFFFFFFFFu;
    if (whole && inside >= QUAD)
        return *(const uint32_t *)argmax;
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        if (j < inside)
            places = (places & ~(0xFFu << 8 * j)) | (uint32_t)argmax[j] << 8 * j;
    return places;
}

/* The last window of those along one axis that see element i + pad of the padded axis. */
GR_DEVICE int last_window(int padded, int stride, int windows)
{
    const int last = padded / stride;
    return last < windows ? last : windows - 1;
}

/* Adds to sum[COUNT] what window element at hands back to its place here. */
template <class E>
GR_DEVICE void add_chosen(float *sum, const pooled_gradient<E> *s, int64_t at, uint32_t here, int inside, bool whole)
{
#pragma unroll
    for (int first = 0; first < piece<E>::COUNT; first += QUAD) {
        const uint32_t places = places_inside(s->argmax + at + first, inside - first, whole);
        const quad v = quad_inside(s->dy + at + first, inside - first, whole);
#pragma unroll
        for (int f = 0; f < QUAD; f++)
            sum[first + f] += (places >> 8 * f & 0xFF) == here ? v.at[f] : 0;
    }
}

/* 16 bytes of dA from dA[n,i,j,k] on, of which inside are wanted, 0 for the others. */
template <class E> GR_DEVICE piece<E> pooled_piece(const pooled_gradient<E> *s, int n, int i, int j, int k, int inside)
{
    const window *o = &s->pool;
    const int row = i + o->pad_top, column = j + o->pad_left;
    float sum[piece<E>::COUNT] = {0};
    for (int p = last_window(row, o->stride_h, o->p); p >= 0 && row - p * o->stride_h < o->r; p--)
        for (int q = last_window(column, o->stride_w, o->q); q >= 0 && column - q * o->stride_w < o->s; q--) {
            const uint32_t here = (row - p * o->stride_h) * o->s + column - q * o->stride_w;
            const int64_t at = (((int64_t)n * o->p + p) * o->q + q) * s->k + k;
            add_chosen(sum, s, at, here, inside, s->k % QUAD == 0);
        }
    piece<E> v;
#pragma unroll
    for (int f = 0; f < piece<E>::COUNT; f++)
        v.at[f] = element_of<E>(sum[f]);
    return v;
}

/* What computes its pieces, eight elements of halves at a time, takes many registers. */
template <class E> constexpr int POOLED_HEAVY = sizeof(E) < sizeof(float);

/* lines are filters, depths are positions of the activation: dW */
template <class E> struct pooled_by_filter {
    enum { LINES_SIDE_BY_SIDE = 1, DIRECT = 0, HEAVY = POOLED_HEAVY<E> };
    typedef E element;
    pooled_gradient<E> da;
    int64_t n;
    digits step; /* DEPTH<E> positions */
    typedef int line_part;
    typedef digits depth_part;
};

template <class E> static inline pooled_by_filter<E> gradient_filters(const pooled_gradient<E> &da, int64_t n)
{
    return pooled_by_filter<E>{da, n, digits_of(DEPTH<E>, (radices){da.p, da.q})};
}

template <class E> GR_DEVICE int operand_line(const pooled_by_filter<E> *, int64_t line)
{
    return (int)line;
}
template <class E> GR_DEVICE digits operand_depth(const pooled_by_filter<E> *o, int64_t depth)
{
    return digits_of(depth, (radices){o->da.p, o->da.q});
}
template <class E> GR_DEVICE void operand_step(const pooled_by_filter<E> *o, digits *position)
{
    *position = digits_add(*position, o->step, (radices){o->da.p, o->da.q});
}
template <class E> GR_DEVICE piece<E> operand_piece(const pooled_by_filter<E> *o, int k, const digits &at)
{
    return pooled_piece(&o->da, at.high, at.middle, at.low, k, at.high < o->n ? o->da.k - k : 0);
}

/* lines are pixels of x, depths are the taps that reach the pixel: dX */
template <class E> struct pooled_by_tap {
    enum { LINES_SIDE_BY_SIDE = 0, DIRECT = 0, HEAVY = POOLED_HEAVY<E> };
    typedef E element;
    pooled_gradient<E> da;
    int64_t pixels; /* of the phase, in all images */
    conv_phase phase;
    digits step;               /* DEPTH<E> taps and filters */
    typedef digits line_part;  /* phase_position */
    typedef digits depth_part; /* tap and filter */
};

template <class E>
static inline pooled_by_tap<E> gradient_taps(const pooled_gradient<E> &da, int64_t n, const conv_phase *f)
{
    const digits step = digits_of(DEPTH<E>, (radices){f->taps_s, da.k});
    return pooled_by_tap<E>{da, n * f->rows * f->columns, *f, step};
}

template <class E> GR_DEVICE digits operand_line(const pooled_by_tap<E> *o, int64_t line)
{
    return phase_position(&o->phase, line, o->pixels);
}
template <class E> GR_DEVICE digits operand_depth(const pooled_by_tap<E> *o, int64_t depth)
{
    return digits_of(depth, (radices){o->phase.taps_s, o->da.k});
}
template <class E> GR_DEVICE void operand_step(const pooled_by_tap<E> *o, digits *tap)
{
    *tap = digits_add(*tap, o->step, (radices){o->phase.taps_s, o->da.k});
}
/* dA at the position whose tap is given, filters tap.low on. */
template <class E>
GR_DEVICE piece<E> pooled_at_tap(const pooled_by_tap<E> *o, const digits &first, digits tap, int inside)
{
    const int p = first.middle - tap.high, q = first.low - tap.middle;
    const bool there = phase_reaches(&o->phase, first.middle, first.low, tap, {o->da.p, o->da.q});
    return there ? pooled_piece(&o->da, first.high, p, q, tap.low, inside) : piece<E>{};
}
template <class E> GR_DEVICE piece<E> operand_piece(const pooled_by_tap<E> *o, const digits &first, digits tap)
{
    if (o->da.k % piece<E>::COUNT == 0)
        return pooled_at_tap(o, first, tap, piece<E>::COUNT);
    piece<E> v;
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++, tap = digits_next(tap, (radices){o->phase.taps_s, o->da.k}))
        v.at[j] = pooled_at_tap(o, first, tap, 1).at[0];
    return v;
}

/* dY where it was passed on at all: the gradient of the bias is the sum of its columns. */
template <class E> struct chosen_rows {
    const E *dy;
    const uint8_t *argmax;
    int64_t columns;
};

template <class E> GR_DEVICE float source_at(const chosen_rows<E> *s, int64_t row, int64_t column)
{
    const int64_t at = row * s->columns + column;
    return s->argmax[at] != CLIPPED ? float_of(s->dy[at]) : 0;
}

#endif
