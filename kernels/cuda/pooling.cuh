/*
 * pooling.cuh - windows over images, for max_pool2d and avg_pool2d: which part of the image a window sees, and which
 * windows see a pixel. Padding is left out of both, so loops over them need no test.
 */
#ifndef GRADUS_POOLING_CUH
#define GRADUS_POOLING_CUH

#include "kernels/cuda/columns.cuh"

enum { POOLING_ROWS = 1 /* that a thread has at least: a window is work enough */ };

/* From begin to below end. */
typedef struct {
    int64_t begin, end;
} span;

/* One axis of a window over an image. */
typedef struct {
    int64_t size, taps, stride, pad, positions; /* of the image; of the window; of the result */
} axis;

static inline axis axis_down(const gr_geometry *g)
{
    return {g->h, g->r, g->stride_h, g->pad_top, g->p};
}
static inline axis axis_across(const gr_geometry *g)
{
    return {g->w, g->s, g->stride_w, g->pad_left, g->q};
}

/* Rows of the image that the window at position p sees: never none. */
GR_DEVICE span window_sees(const axis *a, int64_t p)
{
    const int64_t first = p * a->stride - a->pad, end = first + a->taps;
    return {first > 0 ? first : 0, end < a->size ? end : a->size};
}

/* Positions of the windows that see row h of the image; there may be none. */
GR_DEVICE span seen_by(const axis *a, int64_t h)
{
    const int64_t at = h + a->pad, last = at / a->stride + 1;
    return {at < a->taps ? 0 : (at - a->taps) / a->stride + 1, last < a->positions ? last : a->positions};
}

/* Row of the window at position p that lies over row h of the image. */
GR_DEVICE int tap_of(const axis *a, int64_t p, int64_t h)
{
    return (int)(h + a->pad - p * a->stride);
}

/* Pixel i of images [n, rows, columns]. */
typedef struct {
    int64_t n, row, column;
} pixel;

GR_DEVICE pixel pixel_at(int64_t i, int64_t rows, int64_t columns)
{
    const int64_t line = i / columns;
    return {line / rows, line % rows, i % columns};
}

#endif
