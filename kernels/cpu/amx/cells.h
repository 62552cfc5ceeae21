/*
 * cells.h - images as tiles read them.
 *
 * The rows of a tile lie at one distance from each other, so the pixels of an output row must find what they are
 * multiplied with at one distance, for every tap of the filter. Rows of an image are therefore copied, with their
 * padding, as cells [row][column phase][column][image of a group][depth]: a cell is a pixel, its channels filled up
 * with zeros to whole steps; columns that a stride visits in turn lie together; and narrow images are interleaved in
 * groups, so that an output row fills whole tiles. Output pixel (q, image) is then row q * group + image.
 *
 * Where there are few channels, as in a first layer, a cell is the whole window of an output pixel instead.
 */
#ifndef GRADUS_CPU_CELLS_H
#define GRADUS_CPU_CELLS_H

#include "kernels/cpu/amx/pieces.h"

/*
 * What is copied: [N,H,W,C], of bf16, which is one piece, or of floats in more of them, which are copied to places at a
 * distance from each other. With a gate of the same shape, a ReLU's result, zeros where that is 0.
 */
typedef struct {
    const void *data, *gate;
    int pieces;
    int64_t distance;
} tiled_images;

typedef struct {
    gr_geometry g; /* of the convolution that reads them; padding may be negative */
    bool windows;
    int64_t depth;         /* halves of a cell, a multiple of STEP */
    int64_t group, groups; /* images of a group, groups */
    int64_t phases, cells; /* column phases, columns of each */
    int64_t row;           /* halves of a row */
    int64_t taps;          /* of the filter as products see it, and */
    int64_t tap_rows;      /* rows of them */
} cell_layout;

/* tile: pixels that an output row should be a multiple of; windows: whether cells may be windows. */
cell_layout GR_TILED(cells_of)(const gr_geometry *g, int64_t tile, bool windows);
#define cells_of GR_TILED(cells_of)

/* Rows that `rows` output rows read. */
INLINE int64_t cell_rows(const cell_layout *l, int64_t rows)
{
    return l->windows ? rows : (rows - 1) * l->g.stride_h + l->tap_rows;
}

/* Rows from one output row to the next. */
INLINE int64_t cell_stride(const cell_layout *l)
{
    return l->windows ? 1 : l->g.stride_h;
}

/* Copies row i of a group, counted from the first row that output row 0 reads. */
void GR_TILED(cells_copy)(const cell_layout *l, const tiled_images *from, int64_t group, int64_t i, uint16_t *dst);
#define cells_copy GR_TILED(cells_copy)

/*
 * The same a step at a time: where pixels [first, first + n) of row i of a group lie, n at most STEP, and then STEP
 * channels of them, from c on, as dst[STEP][STEP]; zeros where there is none.
 */
void GR_TILED(cell_places)(const cell_layout *l, int64_t group, int64_t i, int64_t first, int64_t n, int64_t *places);
void GR_TILED(cells_gather)(const cell_layout *l, const tiled_images *from, const int64_t *places, int64_t c,
                            uint16_t *dst);
#define cell_places GR_TILED(cell_places)
#define cells_gather GR_TILED(cells_gather)

#endif
