/*
 * winograd.h - convolutions of 3x3 filters at stride 1 with 16 products where there are 36: F(2x2, 3x3) of Winograd
 * (1980) as Lavin and Gray (2016) use it.
 *
 * The result is cut into tiles of 2x2 pixels, each of which depends on 4x4 pixels d of the input. With
 *
 *        1  0 -1  0          1    0    0
 *   B =  0  1  1  0     G =  1/2  1/2  1/2     A =  1  1  1  0
 *        0 -1  1  0          1/2 -1/2  1/2          0  1 -1 -1
 *        0  1  0 -1          0    0    1
 *
 *   y  = A ( sum_c (G w G') . (B d B') ) A'            . multiplies the 16 places one by one, ' transposes
 *   dW = G' ( sum_tiles (A' dy A) . (B d B') ) G       the derivative of y by w
 *
 * so for each place there is a product of matrices, [tile x c] times [c x k], or for dW [c x tile] times [tile x k]. dX
 * is the convolution of dz with the filters turned round. A tile at the border reads zeros and writes what lies in the
 * image.
 *
 * The error of a result is at most
 *
 *   y    eps sqrt(C)     |A| ( sum_c (|G| |w| |G'|) . (|B| |d| |B'|) ) |A'|
 *   dW   eps sqrt(tiles) |G'| ( sum_tiles (|A'| |dy| |A|) . (|B| |d| |B'|) ) |G|
 *
 * with absolute values of every element, where eps is 2^-23. On numbers of one size that is a small multiple of what
 * the direct sum has. But a pixel far larger than its neighbours is felt by every result of its tile: a y whose filter
 * does not reach it has an error in proportion to it all the same. tests/table/winograd_bound.c holds the kernels to
 * this.
 */
#ifndef GRADUS_CPU_WINOGRAD_H
#define GRADUS_CPU_WINOGRAD_H

#include "kernels/cpu/conv.h"

enum { PLACES = 16 };

/* Whether all passes of this convolution are computed this way. */
bool GR_CPU(winograd_fits)(const gr_call *call, const gr_geometry *g);
#define winograd_fits GR_CPU(winograd_fits)

/* The 2x2 tiles of a batch of images, counted row by row, image by image. */
typedef struct {
    int64_t rows, cols, count; /* of an image; of the batch */
} winograd_tiles;

INLINE winograd_tiles winograd_tiles_of(int64_t n, int64_t p, int64_t q)
{
    const int64_t rows = ceil_div(p, 2), cols = ceil_div(q, 2);
    return (winograd_tiles){rows, cols, n * rows * cols};
}

/* Image and upper left result pixel of a tile. */
typedef struct {
    int64_t n, row, col;
} winograd_at;

INLINE winograd_at winograd_tile(const winograd_tiles *t, int64_t i)
{
    return (winograd_at){i / (t->rows * t->cols), i / t->cols % t->rows * 2, i % t->cols * 2};
}

/* The pixel [row, col] of the image, channels [c, c + width): 0 outside; dy where y > 0, if from has y. */
INLINE vec winograd_pixel(const conv_dz *from, int64_t n, int64_t row, int64_t col, int64_t c, int64_t width)
{
    if (row < 0 || row >= from->p || col < 0 || col >= from->q)
        return (vec){0};
    const int64_t at = ((n * from->p + row) * from->q + col) * from->k + c;
    const vec v = vec_load_n(from->dy + at, width);
    return from->y ? vec_gate(vec_load_n(from->y + at, width), v) : v;
}

/* B d B' of the 4x4 pixels from [row, col] on; v[place] a vector every `step` floats. */
INLINE void winograd_input(const conv_dz *from, winograd_at at, int64_t c, int64_t width, float *v, int64_t step)
{
    vec e[4][4];
    UNROLL
    for (int j = 0; j < 4; j++) {
        vec d[4];
        UNROLL
        for (int i = 0; i < 4; i++)
            d[i] = winograd_pixel(from, at.n, at.row + i, at.col + j, c, width);
        e[0][j] = d[0] - d[2];
        e[1][j] = d[1] + d[2];
        e[2][j] = d[2] - d[1];
        e[3][j] = d[1] - d[3];
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        vec_store_n(v + (4 * i + 0) * step, e[i][0] - e[i][2], width);
        vec_store_n(v + (4 * i + 1) * step, e[i][1] + e[i][2], width);
        vec_store_n(v + (4 * i + 2) * step, e[i][2] - e[i][1], width);
        vec_store_n(v + (4 * i + 3) * step, e[i][1] - e[i][3], width);
    }
}

/* Forward, or with the filters turned round dX. */
typedef struct {
    conv_dz from; /* the image that is read: x is taken for a dz, .dy = x */
    int64_t n, pad_top, pad_left;
    int64_t depth;          /* channels read */
    int64_t p, q, channels; /* of the result */
    winograd_tiles tiles;
    int64_t block, blocks, chunks; /* tiles that are done at a time */
    int64_t in_pitch, out_pitch;   /* floats from tile to tile */
    float *w;                      /* [place][panel of channels][depth][PANEL] */
    float *products;               /* [chunk][B d B': place, tile, in_pitch][their products: place, tile, out_pitch] */
    const float *bias;             /* [panel][PANEL] or NULL */
    float *out;                    /* [N,P,Q,channels] */
    bool accumulate, relu;
} winograd_sweep;

/* from (but for the pointers), n, pads, depth, p, q and channels are set; takes scratch. */
void GR_CPU(winograd_sweep_plan)(winograd_sweep *s, scratch *scratch);
#define winograd_sweep_plan GR_CPU(winograd_sweep_plan)

/* Fills s->w from w[K,3,3,C]: for y, or turned round for dX. */
void GR_CPU(winograd_filters)(const gr_exec *exec, winograd_sweep *s, const float *w, bool turned);
#define winograd_filters GR_CPU(winograd_filters)

void GR_CPU(winograd_sweep_run)(const gr_exec *exec, const winograd_sweep *s);
#define winograd_sweep_run GR_CPU(winograd_sweep_run)

/* dW and db: sums [panel][R*S*C][PANEL] and [panel][PANEL] over the whole batch. dw or db NULL: not wanted. */
typedef struct {
    gr_geometry g;
    int64_t k, panels, parts; /* filters, panels of them, register tiles of channels */
    winograd_tiles tiles;
    int64_t at_once; /* tiles in scratch */
    conv_dz x, dz;
    float *inputs;  /* [place][part][tile][TILE_ROWS] */
    float *outputs; /* [place][panel][tile][PANEL] */
    float *sums;    /* [place][panel][C][PANEL] */
    float *dw, *db;
    int64_t first, held; /* tiles now in scratch */
} winograd_grad_w;

void GR_CPU(winograd_grad_w_plan)(winograd_grad_w *f, scratch *scratch);
#define winograd_grad_w_plan GR_CPU(winograd_grad_w_plan)

void GR_CPU(winograd_grad_w_run)(const gr_exec *exec, winograd_grad_w *f);
#define winograd_grad_w_run GR_CPU(winograd_grad_w_run)

#endif
