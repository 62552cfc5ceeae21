/*
 * image_operand.cuh - images as operands of a product, seen through the windows of a convolution. The matrix of all
 * windows (im2col) is never stored: an operand computes where an element lies in x, and finds 0 in the padding.
 *
 *   element (position, tap) = x[n, p*stride_h + r - pad_top, q*stride_w + s - pad_left, c]
 *   position = (n*P + p)*Q + q     tap = (r*S + s)*C + c
 *
 *   image_by_position  lines are positions, depths are taps: forward
 *   image_by_tap       lines are taps, depths are positions: dW
 *   image_by_place     lines are four places of each pooling window, depths are taps: forward with max-pooling
 *
 * Where an element lies is a sum of two places: that of its window's first tap, which may lie outside the image, and
 * that of the tap, seen from there. Neighbours in memory are channels. Where C is a multiple of a piece (4 floats, 8
 * halves), a piece is one read of 16 bytes, else as many reads as it has elements.
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

/* The taps of a window, walked in steps of DEPTH<E>. */
template <class E> static inline walk walk_taps(const gr_geometry *g)
{
    return walk_of((radices){(int)g->s, (int)g->c}, (pitches){g->w * g->c, g->c, 1}, DEPTH<E>);
}

/* The first tap of a window. */
typedef struct {
    int64_t at; /* in x */
    int h, w;
} corner;

/* That of the window at position (n, p, q). */
GR_DEVICE corner corner_of(const window *g, digits position)
{
    const int h = position.middle * g->stride_h - g->pad_top, w = position.low * g->stride_w - g->pad_left;
    return (corner){(((int64_t)position.high * g->h + h) * g->w + w) * g->c, h, w};
}

/* Whether a window's tap lies in the image. */
GR_DEVICE bool tap_inside(const window *g, int h, int w, digits tap)
{
    return (unsigned)(h + tap.high) < (unsigned)g->h && (unsigned)(w + tap.middle) < (unsigned)g->w;
}

template <class E> struct image_by_position {
    enum { LINES_SIDE_BY_SIDE = 0, HEAVY = 0 };
    typedef E element;
    const E *x; /* [N,H,W,C] */
    int64_t positions;
    window g;
    walk taps;
    typedef struct {
        const E *from; /* the window's first tap, which may lie outside */
        int h, w;
    } line_part;
    typedef walker depth_part; /* the tap */
};

template <class E> static inline image_by_position<E> image_positions(const E *x, const gr_geometry *g)
{
    return image_by_position<E>{x, g->n * g->p * g->q, window_of(g), walk_taps<E>(g)};
}

template <class E> static __host__ __device__ inline bool is_whole(const image_by_position<E> &o)
{
    return o.g.c % piece<E>::COUNT == 0;
}

/* A window's first tap, above every image where the window does not count. */
template <class E>
GR_DEVICE typename image_by_position<E>::line_part window_at(const image_by_position<E> *o, digits position,
                                                             bool counts)
{
    const corner first = corner_of(&o->g, position);
    return {o->x + first.at, counts ? first.h : INT32_MIN / 2, first.w};
}

template <class E>
GR_DEVICE typename image_by_position<E>::line_part operand_line(const image_by_position<E> *o, int64_t line)
{
    return window_at(o, digits_of(line, (radices){o->g.p, o->g.q}), line < o->positions);
}
template <class E> GR_DEVICE walker operand_depth(const image_by_position<E> *o, int64_t depth)
{
    return walker_at(&o->taps, depth);
}
template <class E> GR_DEVICE void operand_step(const image_by_position<E> *o, walker *tap)
{
    walker_step(&o->taps, tap);
}
template <class E>
GR_DEVICE const E *operand_place(const image_by_position<E> *o, const typename image_by_position<E>::line_part &first,
                                 const walker &tap, bool *inside)
{
    *inside = tap_inside(&o->g, first.h, first.w, tap.d) && tap.d.high < o->g.r;
    return first.from + tap.at;
}
template <class E>
GR_DEVICE piece<E> operand_piece(const image_by_position<E> *o, const typename image_by_position<E>::line_part &first,
                                 walker tap)
{
    if (is_whole(*o))
        return piece_in_place(o, first, tap);
    piece<E> v = {};
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++, walker_next(&o->taps, &tap)) {
        bool inside;
        const E *from = operand_place(o, first, tap, &inside);
        if (inside)
            v.at[j] = *from;
    }
    return v;
}

/*
 * An image seen through those windows of a convolution whose results a pooling window of its own sees: line 4 position
 * + i is place first_place + i of the pooling window at that position, 0 where there is no such place.
 */
template <class E> struct image_by_place : image_by_position<E> {
    window pool; /* over the convolution's results, p x q positions */
    int first_place;
};

template <class E>
static inline image_by_place<E> image_places(const E *x, const gr_geometry *g, const gr_geometry *pool)
{
    image_by_place<E> o = {image_positions(x, g), window_of(pool), 0};
    o.positions = pool->n * pool->p * pool->q;
    return o;
}

/* Whether a place of the pooling window at that position lies among the results; where among them. */
GR_DEVICE bool place_inside(const window *pool, digits position, int place, int *row, int *column)
{
    *row = position.middle * pool->stride_h + place / pool->s - pool->pad_top;
    *column = position.low * pool->stride_w + place % pool->s - pool->pad_left;
    return place < pool->r * pool->s && (unsigned)*row < (unsigned)pool->h && (unsigned)*column < (unsigned)pool->w;
}

template <class E>
GR_DEVICE typename image_by_place<E>::line_part operand_line(const image_by_place<E> *o, int64_t line)
{
    int row, column;
    const digits position = digits_of(line / QUAD, (radices){o->pool.p, o->pool.q});
    const bool inside = place_inside(&o->pool, position, o->first_place + (int)(line % QUAD), &row, &column);
    const image_by_position<E> *image = o;
    return window_at(image, (digits){position.high, row, column}, inside && line / QUAD < o->positions);
}

template <class E> struct image_by_tap {
    enum { LINES_SIDE_BY_SIDE = 1, HEAVY = tensor_cores<E>::USED };
    typedef E element;
    const E *x; /* [N,H,W,C] */
    int64_t n;
    window g;
    walk taps, positions;
    typedef walker line_part;  /* the tap */
    typedef walker depth_part; /* the position, as far as its window's first tap lies from that of position 0 */
};

template <class E> static inline image_by_tap<E> image_taps(const E *x, const gr_geometry *g)
{
    const int64_t row = g->w * g->c;
    const pitches apart = {g->h * row, g->stride_h * row, g->stride_w * g->c};
    return image_by_tap<E>{x, g->n, window_of(g), walk_taps<E>(g),
                           walk_of((radices){(int)g->p, (int)g->q}, apart, DEPTH<E>)};
}

template <class E> static __host__ __device__ inline bool is_whole(const image_by_tap<E> &o)
{
    return o.g.c % piece<E>::COUNT == 0;
}

template <class E> GR_DEVICE walker operand_line(const image_by_tap<E> *o, int64_t line)
{
    walker tap = walker_at(&o->taps, line);
    tap.at += corner_of(&o->g, (digits){0, 0, 0}).at;
    return tap;
}
template <class E> GR_DEVICE walker operand_depth(const image_by_tap<E> *o, int64_t depth)
{
    return walker_at(&o->positions, depth);
}
template <class E> GR_DEVICE void operand_step(const image_by_tap<E> *o, walker *position)
{
    walker_step(&o->positions, position);
}
/* Lines behind the last tap bring anything in the image; their results are not kept. */
template <class E>
GR_DEVICE const E *operand_place(const image_by_tap<E> *o, const walker &tap, const walker &position, bool *inside)
{
    const window *g = &o->g;
    const int h = position.d.middle * g->stride_h - g->pad_top, w = position.d.low * g->stride_w - g->pad_left;
    *inside = tap_inside(g, h, w, tap.d) && position.d.high < o->n;
    return o->x + (position.at + tap.at);
}
template <class E> GR_DEVICE piece<E> operand_piece(const image_by_tap<E> *o, walker tap, const walker &position)
{
    if (is_whole(*o))
        return piece_in_place(o, tap, position);
    piece<E> v = {};
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++, walker_next(&o->taps, &tap)) {
        bool inside;
        const E *from = operand_place(o, tap, position, &inside);
        if (inside)
            v.at[j] = *from;
    }
    return v;
}

#endif
