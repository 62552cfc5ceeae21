/*
 * winograd.h - convolutions of 3x3 filters at stride 1 with 36 products where there are 144: F(4x4, 3x3) of Winograd
 * (1980) as Lavin and Gray (2016) use it.
 *
 * The result is cut into tiles of 4x4 pixels, each of which depends on 6x6 pixels d of the input. With
 *
 *   y  = A ( sum_c (G w G') . (B d B') ) A'            . multiplies the 36 places one by one, ' transposes
 *   dW = G' ( sum_tiles (A' dy A) . (B d B') ) G       the derivative of y by w
 *
 * there is for each place a product of matrices, [tile x c] times [c x k], or for dW [c x tile] times [tile x k]. dX is
 * the convolution of dz with the filters turned round; or where a tile holds an image's dz and without padding 6x6
 * pixels of dX would be four tiles, the transposed of the sums for y, with as many products as these:
 *
 *   dX = B' ( sum_k (G w G') . (A' dz A) ) B
 *
 * A tile at the border reads zeros and writes what lies in the image. The matrices belong to the points 0, a, -a, b,
 * -b, at which polynomials are multiplied, and infinity:
 *
 *        aabb   0   -aa-bb   0    1  0           1/aabb  0    0             1  1   1   1   1   0
 *   B =   0   -abb   -bb     a    1  0     G =   f      fa   faa      A =   0  a  -a   b  -b   0
 *         0    abb   -bb    -a    1  0           f     -fa   faa            0  aa  aa  bb  bb  0
 *         0   -aab   -aa     b    1  0           h      hb   hbb            0 aaa -aaa bbb -bbb 1
 *         0    aab   -aa    -b    1  0           h     -hb   hbb
 *         0    aabb   0   -aa-bb  0  1           0      0     1       1/f = 2aa(aa-bb), 1/h = 2bb(bb-aa)
 *
 * The usual points are 1 and 2. Here a is 3/4 and b is 3/2: A and B are floats then, too, and on 64 channels of uniform
 * numbers the largest error of 100,000 results is a quarter of what it is with 1 and 2, and that of the direct sum.
 * (Barabasz, Anderson, Soodhalter and Gregg 2020 compare points.)
 *
 * The error of a result is at most
 *
 *   y    eps sqrt(C)     |A| ( sum_c (|G| |w| |G'|) . (|B| |d| |B'|) ) |A'|
 *   dW   eps sqrt(tiles) |G'| ( sum_tiles (|A'| |dy| |A|) . (|B| |d| |B'|) ) |G|
 *   dX   as y, transposed
 *        eps sqrt(K)     |B'| ( sum_k (|G| |w| |G'|) . (|A'| |dz| |A|) ) |B|
 *
 * with absolute values of every element, where eps is 2^-23. One rounding errs by at most eps/2 of a partial sum that
 * the absolute values bound. A term passes at most C of them in the sum over channels and 14 along an axis in the
 * sums around it: 4 for B, 5 for G, whose factors are rounded too, and 5 for A (in dW 4 for A', 4 for B, 6 for
 * G'; in dX transposed 4 for A', 5 for G, 4 for B'). As in any sum they are taken to err either way: sqrt(C + 28)
 * eps/2, which is below eps sqrt(C) from C = 10 on.
 *
 * On numbers of one size that is a small multiple of what the direct sum has. But a pixel far larger than its
 * neighbours is felt by every result of its tile: a y whose filter does not reach it has an error in proportion to it
 * all the same. tests/table/winograd_bound.c and winograd_dx_bound.c hold the kernels to this.
 */
#ifndef GRADUS_CPU_WINOGRAD_H
#define GRADUS_CPU_WINOGRAD_H

#include "kernels/cpu/ahead.h"
#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_dz.h"
#include "kernels/cpu/winograd_places.h"

/* Whether y of this convolution is computed this way, y under the windows of a pool, dX, and dW. */
bool GR_CPU(winograd_fits)(const gr_call *call, const gr_geometry *g);
bool GR_CPU(winograd_pooled_fits)(const gr_call *call, const gr_geometry *g, const gr_geometry *pool);
bool GR_CPU(winograd_grad_x_fits)(const gr_call *call, const gr_geometry *g);
bool GR_CPU(winograd_grad_w_fits)(const gr_call *call, const gr_geometry *g);

/* Whether dX is by the transposed sums. */
bool GR_CPU(winograd_grad_x_transposed)(const gr_geometry *g);
#define winograd_fits GR_CPU(winograd_fits)
#define winograd_pooled_fits GR_CPU(winograd_pooled_fits)
#define winograd_grad_x_fits GR_CPU(winograd_grad_x_fits)
#define winograd_grad_w_fits GR_CPU(winograd_grad_w_fits)
#define winograd_grad_x_transposed GR_CPU(winograd_grad_x_transposed)

/* The tiles of a batch of images, counted row by row, image by image. */
typedef struct {
    int64_t rows, cols, count; /* of an image; of the batch */
} winograd_tiles;

INLINE winograd_tiles winograd_tiles_of(int64_t n, int64_t p, int64_t q)
{
    const int64_t rows = ceil_div(p, SIDE), cols = ceil_div(q, SIDE);
    return (winograd_tiles){rows, cols, n * rows * cols};
}

/* Image and upper left result pixel of a tile. */
typedef struct {
    int64_t n, row, col;
} winograd_at;

INLINE winograd_at winograd_tile(const winograd_tiles *t, int64_t i)
{
    return (winograd_at){i / (t->rows * t->cols), i / t->cols % t->rows * SIDE, i % t->cols * SIDE};
}

/* Floats between tiles and places beyond what they hold: at powers of two they would share a few sets of a cache. */
enum { WINOGRAD_APART = 16 };

/* Forward, or with the filters turned round, or transposed, dX. */
typedef struct {
    conv_dz from; /* the image that is read: x is taken for a dz, .dy = x */
    int64_t n, pad_top, pad_left;
    int64_t out_top,
        out_left;           /* rows and columns that tiles begin in front of the result: pads of x where transposed */
    int64_t depth;          /* channels read */
    int64_t p, q, channels; /* of the result, or of what of it lies under windows */
    winograd_tiles tiles;
    int64_t reads, writes;      /* pixels of a tile's side */
    int64_t at_once;            /* tiles in scratch, or of a chunk where there are many */
    int64_t in_pitch, in_place; /* floats from tile to tile, and from place to place */
    const float *filters;       /* [K,3,3,C] */
    bool for_dx;                /* depth runs over filters, which are turned round */
    bool transposed;            /* dX of images whose dz is a tile each; the filters are not turned then */
    bool fresh;                 /* filters: each panel is transformed when it is used, none are in scratch */
    bool many;         /* tiles: each block's are transformed by whom they are multiplied by, none are in scratch */
    int64_t w_pitch;   /* floats from place to place of the transformed filters */
    float *w;          /* these: [panel of channels][place][depth][PANEL] */
    float *inputs;     /* B d B', transposed A' dz A: [place][tile][in_pitch] */
    const float *bias; /* [panel][PANEL] or NULL */
    float *out;        /* [N,P,Q,channels], pooled [N,P/2,Q/2,channels] */
    bool accumulate, relu;
    bool stream;         /* out past the caches */
    bool pooled;         /* by ReLU and windows of 2x2 side by side; P and Q are even, bias is given */
    uint8_t *argmax;     /* of these, as out; or NULL */
    int64_t first, held; /* tiles now in scratch */
} winograd_sweep;

/* from (but for the pointers), n, pads, depth, p, q, channels and transposed are set; takes scratch. */
void GR_CPU(winograd_sweep_plan)(winograd_sweep *s, scratch *scratch);
#define winograd_sweep_plan GR_CPU(winograd_sweep_plan)

/* Takes the filters w[K,3,3,C]: for y, or as dX needs them. */
void GR_CPU(winograd_filters)(const gr_exec *exec, winograd_sweep *s, const float *w, bool for_dx);
#define winograd_filters GR_CPU(winograd_filters)

void GR_CPU(winograd_sweep_run)(const gr_exec *exec, winograd_sweep *s);
#define winograd_sweep_run GR_CPU(winograd_sweep_run)

/*
 * dW, and sums [panel][PANEL] for db, NULL: not wanted. Tiles are divided into groups with sums of their own, in the
 * order of chunks: so each of two processors multiplies what it has transformed, as its neighbour's caches may be far.
 */
typedef struct {
    gr_geometry g;
    int64_t panels; /* of filters */
    winograd_tiles tiles;
    int64_t groups, at_once; /* groups, tiles of each in scratch */
    conv_dz x, dz;
    int64_t in_pitch, in_place, out_place; /* floats from tile to tile, and from place to place */
    float *inputs;                         /* [group][place][tile][in_pitch] */
    float *outputs; /* [group][place][panel][tile][PANEL]; behind the places the sum of a tile's dz, for db */
    float *sums;    /* [group][place][panel][C][PANEL]; none if all tiles are in scratch at once */
    conv_dw dw;
    float *db;
    int64_t first; /* number within its group of each group's first tile in scratch */
} winograd_grad_w;

void GR_CPU(winograd_grad_w_plan)(winograd_grad_w *f, scratch *scratch);
#define winograd_grad_w_plan GR_CPU(winograd_grad_w_plan)

void GR_CPU(winograd_grad_w_run)(const gr_exec *exec, winograd_grad_w *f);
#define winograd_grad_w_run GR_CPU(winograd_grad_w_run)

#endif
