/*
 * boxes.cuh - operands of a convolution's products as TMA brings them: in boxes of a tensor, of which nobody computes
 * more than the corner. What lies outside, the padding above all, comes as 0. Images have four dimensions; filters are
 * matrices, as TMA seems to take longer for a row of a box the more dimensions it has (docs/bounds.md).
 *
 *   operand            lines              depths              a box of it
 *   image_boxes        positions          taps, channels      64 channels of so many positions, seen through one tap
 *   image_patches      positions          taps, channels      64 channels of all that the positions see
 *   filter_boxes       filters            taps, channels      64 channels of one tap, of so many filters
 *   channel_boxes      channels           taps, filters       64 channels of one tap, of 64 filters
 *   gradient_boxes     filters            positions           64 filters of 64 positions
 *   tap_patches        channels           positions           64 channels of all that 64 positions see
 *
 * A step is 64 depths: 64 channels, or filters, of one tap; or 64 positions. Its digits (digits.cuh) say which: block
 * of channels, row and column of the tap; or image, row and column of a box of positions. All operands of a product
 * walk along the same ones. Images and filters have whole blocks of channels and of filters.
 *
 * Positions come in boxes, too: of columns, rows and images, as many of each as divide theirs, so that no box has
 * positions that there are not but those of images behind the last one. Those are no results, and bring only zeros.
 *
 * Of an operand there is
 *   operand_place(&o, line)             where its lines begin, from this one on: worked out once
 *   place_from(&o, place, &begin)       that of the first tap, of operands that have taps
 *   operand_order(&o, place, i, depth, to, full)    orders its i-th box of 64 lines (or its only one) of that step
 *   PIXELS                              of a patch, at most; 0: it has boxes
 *   FOR_ALL_TAPS                        whether a box serves all steps of a block of channels
 */
#ifndef GRADUS_BOXES_CUH
#define GRADUS_BOXES_CUH

#include "kernels/cuda/conv_phase.cuh"
#include "kernels/cuda/hopper.h"

enum {
    BOX = 64,        /* elements side by side, 128 bytes */
    BOX_LINES = 128, /* of a tile */
    BOX_STRIDE = 2,  /* of windows, at most */
    PATCH_SIDE = 8,  /* positions of a patch side by side: lines that lie in memory as wgmma wants them */
    PATCH_MOST = 200 /* pixels of a patch of 128 positions */
};

/* Positions [images][rows][columns] in boxes. */
typedef struct {
    int images, rows, columns; /* of a box: powers of two */
    radices count;             /* of boxes, in an image's rows and columns */
} boxes;

/* In boxes of so many, a power of two, of at most so many columns. */
static inline boxes boxes_of(int64_t rows, int64_t columns, int positions, int most_columns)
{
    boxes b = {positions, 1, 1, {}};
    for (; b.images > 1 && b.columns < most_columns && columns % (2 * b.columns) == 0; b.images /= 2)
        b.columns *= 2;
    for (; b.images > 1 && rows % (2 * b.rows) == 0; b.images /= 2)
        b.rows *= 2;
    b.count = (radices){(int)rows / b.rows, (int)columns / b.columns};
    return b;
}

/* How many there are. */
static inline int64_t boxes_count(const boxes *b, int64_t images)
{
    return divide_up(images, b->images) * b->count.middle * b->count.low;
}

/* The first position of a box whose number has these digits. */
GR_DEVICE digits box_first(const boxes *b, digits number)
{
    return {number.high * b->images, number.middle * b->rows, number.low * b->columns};
}

/* The number of a box's i-th position. */
GR_DEVICE int64_t box_position(const boxes *b, int number, int i)
{
    const digits first = box_first(b, digits_of_int(number, b->count));
    const digits inside = digits_of_int(i, (radices){b->rows, b->columns});
    const int rows = b->count.middle * b->rows, columns = b->count.low * b->columns;
    const int64_t row = (int64_t)(first.high + inside.high) * rows + first.middle + inside.middle;
    return row * columns + first.low + inside.low;
}

/* Where the lines begin, in an image, that a tile has. */
typedef struct {
    int n, h, w;
} box_corner;

/* Where a product whose lines are positions begins in its operands: at the first of its taps. */
typedef struct {
    int h, w;   /* in images: the pixel that position 0 sees through it, or where the patch of position 0 begins */
    int patch;  /* pixels from there to the tap's own */
    int filter; /* elements of a filter in front of it */
} box_begin;

/* Operands that are images. */
template <class O> GR_DEVICE box_corner place_from(const O *, box_corner at, const box_begin *begin)
{
    return {at.n, at.h + begin->h, at.w + begin->w};
}

/* x[n][h][w][c] in boxes of so many images, rows and columns, 64 channels each */
template <class E>
static inline gr_tensor_map map_images(const E *x, int64_t n, int64_t h, int64_t w, int64_t c, int images, int rows,
                                       int columns, int stride_h, int stride_w)
{
    const int64_t size[4] = {n, h, w, c};
    const int box[4] = {images, rows, columns, BOX};
    return gr_tensor_map_4d(x, size, box, stride_h, stride_w);
}

/* w[K,R,S,C] in boxes of so many filters, 64 channels of a tap each */
template <class E> static inline gr_tensor_map map_filters(const E *w, const gr_geometry *g, int64_t K, int filters)
{
    return gr_tensor_map_of(w, K, g->r * g->s * g->c, filters, BOX);
}

/* --- lines are positions ------------------------------------------------------------------------------------------ */

/* Images through windows: of x forward, of dz for dX, where taps go the other way. */
template <class E> struct image_boxes {
    static const int MAJOR = GR_K_MAJOR;
    static const int PIXELS = 0;
    static const bool FOR_ALL_TAPS = false;
    typedef E element;
    typedef box_corner place;
    gr_tensor_map map;
    boxes positions; /* in boxes of a tile's lines */
    int stride_h, stride_w;
    int turn; /* from a tap to the next, 1 or -1 */
};

template <class E> GR_DEVICE box_corner operand_place(const image_boxes<E> *o, int line)
{
    const digits at = box_first(&o->positions, digits_of_int(line / BOX_LINES, o->positions.count));
    return {at.high, at.middle * o->stride_h, at.low * o->stride_w};
}
template <class E>
GR_DEVICE void operand_order(const image_boxes<E> *o, const box_corner &at, int, digits step, E *to, uint64_t *full)
{
    gr_tma_load_4d(to, &o->map, at.n, at.h + o->turn * step.middle, at.w + o->turn * step.low, step.high * BOX, full);
}

/*
 * The same without strides, and of a window's taps in one box: the positions with what lies around them. A tap is a
 * place in it from which on wgmma reads its rows of a, 8 of each row of positions: patches are 8 positions wide. So
 * pixels come once instead of nine times.
 */
template <class E> struct image_patches {
    static const int MAJOR = GR_K_MAJOR;
    static const int PIXELS = PATCH_MOST;
    static const bool FOR_ALL_TAPS = true;
    typedef E element;
    typedef box_corner place;
    gr_tensor_map map;
    boxes positions;
    int bytes;         /* of a patch */
    int across, group; /* pixels from a row of the patch to the next, and from 64 positions to the next 64 */
    int turn;          /* from a tap to the next, 1 or -1 */
};

template <class E> GR_DEVICE box_corner operand_place(const image_patches<E> *o, int line)
{
    const digits at = box_first(&o->positions, digits_of_int(line / BOX_LINES, o->positions.count));
    return {at.high, at.middle, at.low};
}
template <class E>
GR_DEVICE void operand_order(const image_patches<E> *o, const box_corner &at, int, digits step, E *to, uint64_t *full)
{
    gr_tma_load_4d(to, &o->map, at.n, at.h, at.w, step.high * BOX, full);
}

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* The taps of filters that a product goes through: all of them, or those of a phase (conv_phase.cuh). */
typedef struct {
    int down, beside; /* in elements, from one to the next */
} tap_walk;

GR_DEVICE int tap_column(const tap_walk *taps, digits step)
{
    return step.middle * taps->down + step.low * taps->beside;
}

template <class E> struct filter_boxes {
    static const int MAJOR = GR_K_MAJOR;
    static const int PIXELS = 0;
    static const bool FOR_ALL_TAPS = false;
    typedef E element;
    typedef int place; /* the filter */
    gr_tensor_map map;
    tap_walk taps;
};
template <class E> GR_DEVICE int operand_place(const filter_boxes<E> *, int line)
{
    return line;
}
/* They are gone through from their beginning on. */
template <class E> GR_DEVICE int place_from(const filter_boxes<E> *, int filter, const box_begin *)
{
    return filter;
}
template <class E>
GR_DEVICE void operand_order(const filter_boxes<E> *o, int filter, int, digits step, E *to, uint64_t *full)
{
    gr_tma_load(to, &o->map, filter, tap_column(&o->taps, step) + step.high * BOX, full);
}

template <class E> struct channel_boxes {
    static const int MAJOR = GR_MN_MAJOR;
    static const int PIXELS = 0;
    static const bool FOR_ALL_TAPS = false;
    typedef E element;
    typedef int place; /* the channel, and elements in front of the first tap */
    gr_tensor_map map;
    tap_walk taps;
};
template <class E> GR_DEVICE int operand_place(const channel_boxes<E> *, int line)
{
    return line;
}
template <class E> GR_DEVICE int place_from(const channel_boxes<E> *, int channel, const box_begin *begin)
{
    return channel + begin->filter;
}
template <class E>
GR_DEVICE void operand_order(const channel_boxes<E> *o, int channel, int i, digits step, E *to, uint64_t *full)
{
    gr_tma_load(to, &o->map, step.high * BOX, tap_column(&o->taps, step) + channel + i * BOX, full);
}

/* --- depths are positions ----------------------------------------------------------------------------------------- */

template <class E> struct gradient_boxes {
    static const int MAJOR = GR_MN_MAJOR;
    static const int PIXELS = 0;
    static const bool FOR_ALL_TAPS = false;
    typedef E element;
    typedef int place; /* the filter */
    gr_tensor_map map;
    boxes positions; /* in boxes of a step */
};
template <class E> GR_DEVICE int operand_place(const gradient_boxes<E> *, int line)
{
    return line;
}
template <class E>
GR_DEVICE void operand_order(const gradient_boxes<E> *o, int filter, int i, digits step, E *to, uint64_t *full)
{
    const digits at = box_first(&o->positions, step);
    gr_tma_load_4d(to, &o->map, at.high, at.middle, at.low, filter + i * BOX, full);
}

/* What all taps of 3 x 3 see of 8 x 8 positions, in one box: a tap's positions begin anywhere in it. */
template <class E> struct tap_patches {
    static const int MAJOR = GR_MN_MAJOR;
    static const int TAPS = 3, ACROSS = PATCH_SIDE + TAPS - 1, PIXELS = 104 /* ACROSS x ACROSS, in whole patterns */;
    static const bool FOR_ALL_TAPS = false;
    typedef E element;
    typedef int place; /* the channel */
    gr_tensor_map map;
    boxes positions; /* in boxes of a step */
    int pad_top, pad_left, bytes;
};
template <class E> GR_DEVICE int operand_place(const tap_patches<E> *, int line)
{
    return line;
}
template <class E>
GR_DEVICE void operand_order(const tap_patches<E> *o, int channel, int i, digits step, E *to, uint64_t *full)
{
    const digits at = box_first(&o->positions, step);
    gr_tma_load_4d(to, &o->map, at.high, at.middle - o->pad_top, at.low - o->pad_left, channel + i * BOX, full);
}

#endif
