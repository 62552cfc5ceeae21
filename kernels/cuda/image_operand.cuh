/*
 * image_operand.cuh - images as operands of a product, seen through the windows of a convolution. The matrix of all
 * windows (im2col) is never stored: an operand computes where an element lies in x, and finds 0 in the padding.
 *
 *   element (position, tap) = x[n, p*stride_h + r - pad_top, q*stride_w + s - pad_left, c]
 *   position = (n*P + p)*Q + q     tap = (r*S + s)*C + c
 *
 *   image_by_position  lines are positions, depths are taps: forward
 *   image_by_tap       lines are taps, depths are positions: dW
 *
 * Neighbours in memory are channels. Where C is a multiple of a piece (4 floats, 8 halves), a piece is one read of 16
 * bytes, else as many reads as it has elements.
 */
#ifndef GRADUS_IMAGE_OPERAND_CUH
#define GRADUS_IMAGE_OPERAND_CUH

#include "kernels/cuda/digits.cuh"
#include "kernels/cuda/operand.cuh"

/* gr_geometry in ints, but for the batch. */
typedef struct {
    int h, w, c, r, s, p, q;
    int stride_h, stride_w, pad_top, pad_left;
} window;

static inline window window_of(const gr_geometry *g)
{
    return (window){(int)g->h, (int)g->w,        (int)g->c,        (int)g->r,       (int)g->s,       (int)g->p,
                    (int)g->q, (int)g->stride_h, (int)g->stride_w, (int)g->pad_top, (int)g->pad_left};
}

/* Where x[n,h,w,c] lies; -1: outside the image. first_row: n*H. */
GR_DEVICE int64_t pixel_at(const window *g, int64_t first_row, int h, int w, int c)
{
    const bool inside = (unsigned)h < (unsigned)g->h && (unsigned)w < (unsigned)g->w;
    return inside ? ((first_row + h) * g->w + w) * g->c + c : -1;
}

template <class E> struct image_by_position {
    enum { LINES_SIDE_BY_SIDE = 0, DIRECT = 1, HEAVY = 0 };
    typedef E element;
    const E *x; /* [N,H,W,C] */
    int64_t positions;
    window g;
    digits step; /* DEPTH<E> taps */
    typedef struct {
        int64_t first_row;
        int h, w; /* of the window's first tap */
        digits tap;
    } cursor;
};

template <class E> static inline image_by_position<E> image_positions(const E *x, const gr_geometry *g)
{
    const digits step = digits_of(DEPTH<E>, (radices){(int)g->s, (int)g->c});
    return image_by_position<E>{x, g->n * g->p * g->q, window_of(g), step};
}

template <class E>
GR_DEVICE void operand_open(const image_by_position<E> *o, typename image_by_position<E>::cursor *c, int64_t line,
                            int64_t depth)
{
    const window *g = &o->g;
    const digits at = digits_of(line, (radices){g->p, g->q});
    c->first_row = (int64_t)at.high * g->h;
    c->h = line < o->positions ? at.middle * g->stride_h - g->pad_top : INT32_MIN / 2; /* above every image */
    c->w = at.low * g->stride_w - g->pad_left;
    c->tap = digits_of(depth, (radices){g->s, g->c});
}

template <class E> GR_DEVICE bool operand_direct(const image_by_position<E> *o)
{
    return o->g.c % piece<E>::COUNT == 0;
}

template <class E>
GR_DEVICE const E *operand_place(const image_by_position<E> *o, typename image_by_position<E>::cursor *c, int64_t,
                                 int *inside)
{
    const window *g = &o->g;
    const int64_t at = pixel_at(g, c->first_row, c->h + c->tap.high, c->w + c->tap.middle, c->tap.low);
    *inside = at >= 0 && c->tap.high < g->r ? (int)piece<E>::COUNT : 0;
    c->tap = digits_add(c->tap, o->step, (radices){g->s, g->c});
    return *inside ? o->x + at : o->x;
}

template <class E>
GR_DEVICE piece<E> operand_next(const image_by_position<E> *o, typename image_by_position<E>::cursor *c, int64_t depth)
{
    const window *g = &o->g;
    const radices taps = {g->s, g->c};
    if (operand_direct(o)) {
        int inside;
        const E *from = operand_place(o, c, depth, &inside);
        return piece_inside(from, inside, true);
    }
    piece<E> v = {};
    digits tap = c->tap;
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++, tap = digits_next(tap, taps)) {
        const int64_t at = pixel_at(g, c->first_row, c->h + tap.high, c->w + tap.middle, tap.low);
        if (at >= 0 && tap.high < g->r)
            v.at[j] = o->x[at];
    }
    c->tap = digits_add(c->tap, o->step, taps);
    return v;
}

template <class E> struct image_by_tap {
    enum { LINES_SIDE_BY_SIDE = 1, DIRECT = 1, HEAVY = tensor_cores<E>::USED };
    typedef E element;
    const E *x; /* [N,H,W,C] */
    int64_t n;
    window g;
    digits step; /* DEPTH<E> positions */
    typedef struct {
        digits tap, position;
    } cursor;
};

template <class E> static inline image_by_tap<E> image_taps(const E *x, const gr_geometry *g)
{
    return image_by_tap<E>{x, g->n, window_of(g), digits_of(DEPTH<E>, (radices){(int)g->p, (int)g->q})};
}

template <class E>
GR_DEVICE void operand_open(const image_by_tap<E> *o, typename image_by_tap<E>::cursor *c, int64_t line, int64_t depth)
{
    c->tap = digits_of(line, (radices){o->g.s, o->g.c});
    c->position = digits_of(depth, (radices){o->g.p, o->g.q});
}

template <class E> GR_DEVICE bool operand_direct(const image_by_tap<E> *o)
{
    return o->g.c % piece<E>::COUNT == 0;
}

/* Where the tap of the cursor's position lies; -1: nowhere. */
template <class E>
GR_DEVICE int64_t tap_at(const image_by_tap<E> *o, const typename image_by_tap<E>::cursor *c, digits tap)
{
    const window *g = &o->g;
    const int h = c->position.middle * g->stride_h - g->pad_top, w = c->position.low * g->stride_w - g->pad_left;
    const int64_t at = pixel_at(g, (int64_t)c->position.high * g->h, h + tap.high, w + tap.middle, tap.low);
    return c->position.high < o->n ? at : -1;
}

/* Lines behind the last tap bring anything in the image; their results are not kept. */
template <class E>
GR_DEVICE const E *operand_place(const image_by_tap<E> *o, typename image_by_tap<E>::cursor *c, int64_t, int *inside)
{
    const int64_t at = tap_at(o, c, c->tap);
    *inside = at >= 0 ? (int)piece<E>::COUNT : 0;
    c->position = digits_add(c->position, o->step, (radices){o->g.p, o->g.q});
    return *inside ? o->x + at : o->x;
}

template <class E>
GR_DEVICE piece<E> operand_next(const image_by_tap<E> *o, typename image_by_tap<E>::cursor *c, int64_t depth)
{
    if (operand_direct(o)) {
        int inside;
        const E *from = operand_place(o, c, depth, &inside);
        return piece_inside(from, inside, true);
    }
    piece<E> v = {};
    digits tap = c->tap;
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++, tap = digits_next(tap, (radices){o->g.s, o->g.c})) {
        const int64_t at = tap_at(o, c, tap);
        if (at >= 0)
            v.at[j] = o->x[at];
    }
    c->position = digits_add(c->position, o->step, (radices){o->g.p, o->g.q});
    return v;
}

#endif
