/*
 * image_operand.cuh - images as operands of a product, seen through the windows of a convolution. The matrix of all windows
 * (im2col) is never stored: an operand computes where an element lies in x, and finds 0 in the padding.
 *
 *   element (position, tap) = x[n, p*stride_h + r - pad_top, q*stride_w + s - pad_left, c]
 *   position = (n*P + p)*Q + q     tap = (r*S + s)*C + c
 *
 *   image_by_position  lines are positions, depths are taps: forward
 *   image_by_tap       lines are taps, depths are positions: dW
 *
 * Neighbours in memory are channels. Where C is a multiple of 4, four of them are one read of 16 bytes, else four reads.
 */
#ifndef GRADUS_IMAGE_OPERAND_CUH
#define GRADUS_IMAGE_OPERAND_CUH

#include "kernels/cuda/digits.cuh"
#include "kernels/cuda/gemm_tile.cuh"

/* gr_geometry in ints, but for the batch. */
typedef struct {
    int h, w, c, r, s, p, q;
    int stride_h, stride_w, pad_top, pad_left;
} window;

static inline window window_of(const gr_geometry *g)
{
    return (window){(int)g->h,        (int)g->w,        (int)g->c,       (int)g->r,       (int)g->s, (int)g->p, (int)g->q,
                    (int)g->stride_h, (int)g->stride_w, (int)g->pad_top, (int)g->pad_left};
}

/* Where x[n,h,w,c] lies; -1: outside the image. first_row: n*H. */
GR_DEVICE int64_t pixel_at(const window *g, int64_t first_row, int h, int w, int c)
{
    const bool inside = (unsigned)h < (unsigned)g->h && (unsigned)w < (unsigned)g->w;
    return inside ? ((first_row + h) * g->w + w) * g->c + c : -1;
}

struct image_by_position {
    enum { LINES_SIDE_BY_SIDE = 0 };
    const float *x; /* [N,H,W,C] */
    int64_t positions;
    window g;
    digits step; /* DEPTH taps */
    typedef struct {
        int64_t first_row;
        int h, w; /* of the window's first tap */
        digits tap;
    } cursor;
};

static inline image_by_position image_positions(const float *x, const gr_geometry *g)
{
    return (image_by_position){x, g->n * g->p * g->q, window_of(g), digits_of(DEPTH, (radices){(int)g->s, (int)g->c})};
}

GR_DEVICE void operand_open(const image_by_position *o, image_by_position::cursor *c, int64_t line, int64_t depth)
{
    const window *g = &o->g;
    const digits at = digits_of(line, (radices){g->p, g->q});
    c->first_row = (int64_t)at.high * g->h;
    c->h = line < o->positions ? at.middle * g->stride_h - g->pad_top : INT32_MIN / 2; /* above every image */
    c->w = at.low * g->stride_w - g->pad_left;
    c->tap = digits_of(depth, (radices){g->s, g->c});
}

GR_DEVICE quad operand_next(const image_by_position *o, image_by_position::cursor *c, int64_t)
{
    const window *g = &o->g;
    const radices taps = {g->s, g->c};
    quad v = {{0, 0, 0, 0}};
    if (g->c % QUAD == 0) {
        const int64_t at = pixel_at(g, c->first_row, c->h + c->tap.high, c->w + c->tap.middle, c->tap.low);
        if (at >= 0 && c->tap.high < g->r)
            v = quad_inside(o->x + at, QUAD, true);
    } else {
        digits tap = c->tap;
#pragma unroll
        for (int j = 0; j < QUAD; j++, tap = digits_next(tap, taps)) {
            const int64_t at = pixel_at(g, c->first_row, c->h + tap.high, c->w + tap.middle, tap.low);
            if (at >= 0 && tap.high < g->r)
                v.at[j] = o->x[at];
        }
    }
    c->tap = digits_add(c->tap, o->step, taps);
    return v;
}

struct image_by_tap {
    enum { LINES_SIDE_BY_SIDE = 1 };
    const float *x; /* [N,H,W,C] */
    int64_t n;
    window g;
    digits step; /* DEPTH positions */
    typedef struct {
        digits tap, position;
    } cursor;
};

static inline image_by_tap image_taps(const float *x, const gr_geometry *g)
{
    return (image_by_tap){x, g->n, window_of(g), digits_of(DEPTH, (radices){(int)g->p, (int)g->q})};
}

GR_DEVICE void operand_open(const image_by_tap *o, image_by_tap::cursor *c, int64_t line, int64_t depth)
{
    c->tap = digits_of(line, (radices){o->g.s, o->g.c});
    c->position = digits_of(depth, (radices){o->g.p, o->g.q});
}

/* Lines behind the last tap bring anything in the image; their results are not kept. */
GR_DEVICE quad operand_next(const image_by_tap *o, image_by_tap::cursor *c, int64_t)
{
    const window *g = &o->g;
    const int64_t first_row = (int64_t)c->position.high * g->h;
    const int h = c->position.middle * g->stride_h - g->pad_top, w = c->position.low * g->stride_w - g->pad_left;
    const bool inside = c->position.high < o->n;
    quad v = {{0, 0, 0, 0}};
    if (g->c % QUAD == 0) {
        const int64_t at = pixel_at(g, first_row, h + c->tap.high, w + c->tap.middle, c->tap.low);
        if (inside && at >= 0)
            v = quad_inside(o->x + at, QUAD, true);
    } else {
        digits tap = c->tap;
#pragma unroll
        for (int j = 0; j < QUAD; j++, tap = digits_next(tap, (radices){g->s, g->c})) {
            const int64_t at = pixel_at(g, first_row, h + tap.high, w + tap.middle, tap.low);
            if (inside && at >= 0)
                v.at[j] = o->x[at];
        }
    }
    c->position = digits_add(c->position, o->step, (radices){g->p, g->q});
    return v;
}

#endif
