/*
 * thin_tile.cuh - convolutions of few channels on tensor cores, such as the first layer of a network for pictures: the
 * tile of an image that a block works on, as ldmatrix takes it.
 *
 * With 3 channels a window of 3 x 3 has 27 numbers, which lie in memory in runs of 9: no pieces of 16 bytes, so the
 * products of gemm.cuh would bring them number by number, and each of them nine times. Here a block brings the pixels
 * that 8 x 16 positions of the result see into shared memory once, with room for 4 channels, 8 bytes, and beside each
 * its right neighbour:
 *
 *   halo row h - p stride_h + pad_top, column w - q stride_w + pad_left: pixels (h, w) and (h, w + 1), 0 in the padding
 *   and where there is no channel; (p, q) the first position
 *
 * So wherever a window begins, 16 bytes at a multiple of 16 are a pair of its taps, (r, s) and (r, s + 1). A window has
 * R ceil(S / 2) of them; of an odd S the last of each row is one tap alone. Eight positions side by side are eight
 * lines of a matrix for ldmatrix, in different banks where the stride is 1.
 *
 * The shapes taken: up to 4 channels, filters up to 7 x 7, a multiple of 8 of them, strides up to 2, any padding.
 */
#ifndef GRADUS_THIN_TILE_CUH
#define GRADUS_THIN_TILE_CUH

#include "kernels/cuda/narrow_tile.cuh"
#include "kernels/cuda/tensor_tile.cuh"

enum {
    THIN_CHANNELS = 4,
    THIN_SIDE = 7,
    THIN_STRIDE = 2,
    THIN_ROWS = 8, /* of positions in a tile */
    THIN_COLUMNS = 16,
    THIN_WARPS = 4,
    THIN_THREADS = THIN_WARPS * WARP,
    THIN_WARP_ROWS = THIN_ROWS / THIN_WARPS,
    THIN_FILTERS = 64, /* of a block */
    THIN_MULTIPLE = 8  /* filters that lie side by side in 16 bytes */
};

/* A pixel, channels 0 and 1 and channels 2 and 3, and its right neighbour. */
struct __align__(16) pixel_pair
{
    uint2 left, right;
};

template <class E> struct thin_image {
    const E *x; /* [N,H,W,C] */
    int n, h, w, c, p, q;
    int r, s, stride_h, stride_w, pad_top, pad_left;
    int rows, columns; /* of pixels that a tile sees */
    int pairs, across; /* of taps in a window, and in a row of it */
    radices tiles;     /* of an image, along its rows and columns */
};

/* Whether these kernels take such a convolution of halves, with K filters. */
static inline bool is_thin(const gr_geometry *g, int64_t K)
{
    return K % THIN_MULTIPLE == 0 && g->c <= THIN_CHANNELS && g->r <= THIN_SIDE && g->s <= THIN_SIDE &&
           g->stride_h <= THIN_STRIDE && g->stride_w <= THIN_STRIDE;
}

template <class E> static inline thin_image<E> thin_image_of(const E *x, const gr_geometry *g)
{
    thin_image<E> i = {};
    i.x = x, i.n = (int)g->n, i.h = (int)g->h, i.w = (int)g->w, i.c = (int)g->c, i.p = (int)g->p, i.q = (int)g->q;
    i.r = (int)g->r, i.s = (int)g->s, i.stride_h = (int)g->stride_h, i.stride_w = (int)g->stride_w;
    i.pad_top = (int)g->pad_top, i.pad_left = (int)g->pad_left;
    i.rows = (THIN_ROWS - 1) * i.stride_h + i.r, i.columns = (THIN_COLUMNS - 1) * i.stride_w + i.s;
    i.across = (i.s + 1) / 2, i.pairs = i.r * i.across;
    i.tiles = (radices){(int)divide_up(g->p, THIN_ROWS), (int)divide_up(g->q, THIN_COLUMNS)};
    return i;
}

template <class E> static inline int64_t thin_tiles(const thin_image<E> &i)
{
    return (int64_t)i.n * i.tiles.middle * i.tiles.low;
}

/* Bytes of shared memory that the pixels of a tile take. */
template <class E> static inline size_t thin_shared(const thin_image<E> &i)
{
    return (size_t)(i.rows * i.columns) * sizeof(pixel_pair);
}

/* The tile's first position. */
GR_DEVICE digits first_position(digits tile)
{
    return (digits){tile.high, tile.middle * THIN_ROWS, tile.low * THIN_COLUMNS};
}

/* Two halves as a word. */
template <class E> GR_DEVICE uint32_t word_of(E low, E high)
{
    return low.bits | (uint32_t)high.bits << 16;
}

/* A pixel of the image x, 0 outside. */
template <class E> GR_DEVICE uint2 pixel_bits(const E *x, const thin_image<E> *image, int h, int w)
{
    E channel[THIN_CHANNELS] = {};
    const bool inside = (unsigned)h < (unsigned)image->h && (unsigned)w < (unsigned)image->w;
    const E *from = x + ((int64_t)h * image->w + w) * image->c;
#pragma unroll
    for (int c = 0; c < THIN_CHANNELS; c++)
        if (inside && c < image->c)
            channel[c] = from[c];
    return make_uint2(word_of(channel[0], channel[1]), word_of(channel[2], channel[3]));
}

/* Brings the pixels of the tile whose first position is given: a thread's pixel goes into two pairs. */
template <class E> GR_DEVICE void bring_pixels(pixel_pair *to, const thin_image<E> *image, digits first)
{
    const int top = first.middle * image->stride_h - image->pad_top;
    const int left = first.low * image->stride_w - image->pad_left;
    const E *x = image->x + (int64_t)first.high * image->h * image->w * image->c;
    const unsigned width = image->columns + 1, count = image->rows * width; /* the last pixel's neighbour, too */
#pragma unroll 2
    for (unsigned i = threadIdx.x; i < count; i += THIN_THREADS) {
        const int row = (int)(i / width), column = (int)(i % width);
        const uint2 pixel = pixel_bits(x, image, top + row, left + column);
        pixel_pair *pair = to + row * image->columns + column;
        if (column < image->columns)
            pair->left = pixel;
        if (column > 0)
            pair[-1].right = pixel;
    }
}

/* A pair of taps: where its pixels lie from a position's first one, and how many of the two are there. */
typedef struct {
    int place, taps;
} tap_pair;

template <class E> GR_DEVICE tap_pair tap_pair_of(const thin_image<E> *image, int pair)
{
    const int r = pair / image->across, s = 2 * (pair % image->across);
    if (r >= image->r)
        return (tap_pair){0, 0};
    return (tap_pair){r * image->columns + s, min(image->s - s, 2)};
}

/*
 * Where this lane's line of ldmatrix lies in row row of the tile, before its pair's place: the matrices are positions 0
 * to 7 and 8 to 15 of a pair, then those of another.
 */
template <class E> GR_DEVICE int line_place(const thin_image<E> *image, int row)
{
    return row * image->stride_h * image->columns + threadIdx.x % THIN_COLUMNS * image->stride_w;
}
GR_DEVICE int line_pair(void)
{
    return threadIdx.x % WARP / THIN_COLUMNS;
}

#endif
