/*
 * narrow_tile.cuh - convolutions of few channels by multiply-adds, such as the first layer of a network for pictures:
 * the tile of an image that a block works on.
 *
 * With 3 channels a window of 3 x 3 has 27 numbers: as a matrix of all windows it would be loaded number by number, and
 * each of them several times. So such layers have kernels of their own. Four results at a time, those that a window of
 * a pooling of 2 x 2 sees or would see, and a block brings the pixels of 4 x 16 such windows into shared memory once:
 *
 *   halo row h - 2 p + pad_top, column w - 2 q + pad_left: pixel (h, w), 0 in the padding; (p, q) the first window
 *
 * Of three channels the first two lie side by side and the third in a plane of its own, so that a read has 4, 8 or 16
 * bytes, all of them wanted.
 *
 * Warp i takes the tile's row i, and a lane one of 32 filters: lanes read the same pixels or, where each has a place
 * of its own in the window, one of four, which lie in different banks: a row is 4 or 2 modulo 32 words.
 *
 * The shapes taken: filters 3 x 3, 1 or 3 channels, stride 1, any padding. Of poolings, windows 2 x 2 apart by 2 that
 * lie in the activation, so without padding; without a pooling the last windows may end outside.
 */
#ifndef GRADUS_NARROW_TILE_CUH
#define GRADUS_NARROW_TILE_CUH

#include "kernels/cuda/digits.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/gemm_plan.cuh"
#include "kernels/cuda/reduce.cuh"

enum {
    NARROW_SIDE = 3, /* of a filter */
    NARROW_TAPS = NARROW_SIDE * NARROW_SIDE,
    NARROW_POOL = 2, /* side of a window of the pooling */
    NARROW_ROWS = 4, /* of windows in a tile, and warps of a block */
    NARROW_COLUMNS = 16,
    NARROW_THREADS = NARROW_ROWS * WARP,
    NARROW_RESIDENT = 5,   /* blocks on a multiprocessor: 20 warps, of 96 registers a thread */
    NARROW_FILTERS = WARP, /* of a block */
    HALO_ROWS = NARROW_POOL * NARROW_ROWS + NARROW_SIDE - 1,
    HALO_COLUMNS = NARROW_POOL * NARROW_COLUMNS + NARROW_SIDE - 1,
    HALO_PIXELS = HALO_ROWS * HALO_COLUMNS,
    HALO_SHARE = (HALO_PIXELS + NARROW_THREADS - 1) / NARROW_THREADS /* of a thread */
};

/* The pixels of a tile in shared memory, of C channels. */
template <int C> struct __align__(16) narrow_halo
{
    float pair[C > 1 ? 2 * HALO_PIXELS : 4]; /* channels 0 and 1; nothing where there is one */
    float last[HALO_PIXELS];                 /* channel C - 1 */
};

template <class E> struct narrow_image {
    const E *x;        /* [N,H,W,C] */
    int n, h, w, p, q; /* extents; p, q of windows */
    int pad_top, pad_left;
    radices tiles; /* of an image, along its rows and columns */
};

/* What these kernels take E for: tf32 permits rounding where that is faster, which here it is not. */
template <class E> struct narrow_element {
    typedef E type;
};
template <> struct narrow_element<tf32> {
    typedef float type;
};

/* Whether these kernels take such a convolution, */
static inline bool is_narrow(const gr_geometry *conv)
{
    return conv->r == NARROW_SIDE && conv->s == NARROW_SIDE && (conv->c == 1 || conv->c == 3) && conv->stride_h == 1 &&
           conv->stride_w == 1;
}
/* and with such a pooling behind it. */
static inline bool is_narrow(const gr_geometry *conv, const gr_geometry *pool)
{
    const bool window = pool->r == NARROW_POOL && pool->s == NARROW_POOL;
    const bool side_by_side = pool->stride_h == NARROW_POOL && pool->stride_w == NARROW_POOL;
    const bool inside = pool->pad_top == 0 && pool->pad_left == 0 && NARROW_POOL * pool->p <= pool->h &&
                        NARROW_POOL * pool->q <= pool->w;
    return is_narrow(conv) && window && side_by_side && inside;
}

/* p, q: windows */
template <class E>
static inline narrow_image<E> narrow_image_of(const E *x, const gr_geometry *conv, int64_t p, int64_t q)
{
    narrow_image<E> i = {x, (int)conv->n, (int)conv->h, (int)conv->w, (int)p, (int)q, 0, 0, {}};
    i.pad_top = (int)conv->pad_top, i.pad_left = (int)conv->pad_left;
    i.tiles = (radices){(int)divide_up(p, NARROW_ROWS), (int)divide_up(q, NARROW_COLUMNS)};
    return i;
}

template <class E> static inline int64_t narrow_tiles(const narrow_image<E> &i)
{
    return (int64_t)i.n * i.tiles.middle * i.tiles.low;
}

/* How tiles are shared out: turns blocks for each of groups of filters; step, turns tiles. */
typedef struct {
    int turns, groups;
    digits step;
} narrow_plan;

/* As many turns as are resident at once, or fewer that are done as soon. */
static inline narrow_plan narrow_turns(int64_t tiles, radices of_image, int64_t groups, int64_t resident)
{
    const int64_t most = divide_up(resident, groups);
    narrow_plan plan;
    plan.groups = (int)groups;
    plan.turns = (int)divide_up(tiles, divide_up(tiles, most > 1 ? most : 1));
    plan.step = digits_of(plan.turns, of_image);
    return plan;
}

/* A tile from its number, without a division of 64 bits. */
GR_DEVICE digits tile_of(unsigned number, radices tiles)
{
    const unsigned rest = number / tiles.low;
    return (digits){(int)(rest / tiles.middle), (int)(rest % tiles.middle), (int)(number % tiles.low)};
}

/* The tile's first window. */
GR_DEVICE digits first_window(digits tile)
{
    return (digits){tile.high, tile.middle * NARROW_ROWS, tile.low * NARROW_COLUMNS};
}

/* Channels of a pixel of the image x, 0 outside. */
template <int C, class E>
GR_DEVICE void pixel_read(float *channel, const E *x, const narrow_image<E> *image, int h, int w)
{
    const bool inside = (unsigned)h < (unsigned)image->h && (unsigned)w < (unsigned)image->w;
    const E *from = x + ((int64_t)h * image->w + w) * C;
#pragma unroll
    for (int c = 0; c < C; c++)
        channel[c] = inside ? float_of(from[c]) : 0;
}

/* Brings the pixels of the tile whose first window is given: each thread reads its own, then writes them. */
template <int C, class E> GR_DEVICE void bring_halo(narrow_halo<C> *halo, const narrow_image<E> *image, digits first)
{
    const int top = NARROW_POOL * first.middle - image->pad_top, left = NARROW_POOL * first.low - image->pad_left;
    const E *x = image->x + (int64_t)first.high * image->h * image->w * C;
    float channel[HALO_SHARE][C];
#pragma unroll
    for (int i = 0; i < HALO_SHARE; i++) {
        const int pixel = threadIdx.x + i * NARROW_THREADS;
        pixel_read<C>(channel[i], x, image, top + pixel / HALO_COLUMNS, left + pixel % HALO_COLUMNS);
    }
#pragma unroll
    for (int i = 0; i < HALO_SHARE; i++) {
        const int pixel = threadIdx.x + i * NARROW_THREADS;
        if (pixel >= HALO_PIXELS)
            break;
        if (C > 1)
            *(float2 *)(halo->pair + 2 * pixel) = make_float2(channel[i][0], channel[i][1 % C]);
        halo->last[pixel] = channel[i][C - 1];
    }
}

#endif
