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
 * the convolution of dz with the filters turned round. A tile at the border reads zeros and writes what lies in the
 * image. The matrices belong to the points 0, a, -a, b, -b, at which polynomials are multiplied, and infinity:
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
 *
 * with absolute values of every element, where eps is 2^-23. One rounding errs by at most eps/2 of a partial sum that
 * the absolute values bound. A term passes at most C of them in the sum over channels and 14 along an axis in the
 * sums around it: 4 for B, 5 for G, whose factors are rounded too, and 5 for A (in dW 4 for A', 4 for B, 6 for
 * G'). As in any sum they are taken to err either way: sqrt(C + 28) eps/2, which is below eps sqrt(C) from C = 10 on.
 *
 * On numbers of one size that is a small multiple of what the direct sum has. But a pixel far larger than its
 * neighbours is felt by every result of its tile: a y whose filter does not reach it has an error in proportion to it
 * all the same. tests/table/winograd_bound.c holds the kernels to this.
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
#define winograd_fits GR_CPU(winograd_fits)
#define winograd_pooled_fits GR_CPU(winograd_pooled_fits)
#define winograd_grad_x_fits GR_CPU(winograd_grad_x_fits)
#define winograd_grad_w_fits GR_CPU(winograd_grad_w_fits)

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

/* The pixels that a tile reads or writes: where the first one lies or would lie, and which are in the image. */
typedef struct {
    const float *dy, *y;
    int64_t first, row, pixel; /* floats to the first pixel; from row to row, from pixel to pixel */
    span rows, cols;
    bool inside; /* all of them */
} winograd_window;

INLINE winograd_window winograd_window_of(const conv_dz *from, winograd_at at, int64_t side)
{
    winograd_window w = {.dy = from->dy,
                         .y = from->y,
                         .first = ((at.n * from->p + at.row) * from->q + at.col) * from->k,
                         .row = from->q * from->k,
                         .pixel = from->k,
                         .rows = {max64(0, -at.row), min64(side, from->p - at.row)},
                         .cols = {max64(0, -at.col), min64(side, from->q - at.col)}};
    w.inside = w.rows.end - w.rows.begin == side && w.cols.end - w.cols.begin == side;
    return w;
}

/*
 * Channels [c, c + width) of the pixels of a window that lie in the image to seen[side][side][VL], which holds zeros
 * elsewhere: dy where y > 0, if there is y.
 */
INLINE void winograd_gather(const winograd_window *w, int64_t side, int64_t c, int64_t width, float *seen)
{
    for (int64_t i = w->rows.begin; i < w->rows.end; i++)
        for (int64_t j = w->cols.begin; j < w->cols.end; j++) {
            const int64_t at = w->first + i * w->row + j * w->pixel + c;
            const vec v = vec_load_n(w->dy + at, width);
            vec_store(seen + (i * side + j) * VL, w->y ? vec_gate(vec_load_n(w->y + at, width), v) : v);
        }
}

/* Whether all of it can be read where it lies: nearly always, but for images' borders. */
INLINE bool winograd_direct(const winograd_window *w)
{
    return w->inside && !w->y;
}

/* B d B' of pixels d[6][6], at distances of row and pixel floats; v[place] a vector every `step` floats. */
INLINE void winograd_input(const float *pixels, int64_t row, int64_t pixel, int64_t width, float *v, int64_t step)
{
    vec e[ALONG][ALONG]; /* [column][place] */
    UNROLL
    for (int j = 0; j < ALONG; j++) {
        vec d[ALONG];
        UNROLL
        for (int i = 0; i < ALONG; i++)
            d[i] = vec_load_n(pixels + i * row + j * pixel, width);
        pixels_to_places(d, e[j]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        vec d[ALONG], places[ALONG];
        UNROLL
        for (int j = 0; j < ALONG; j++)
            d[j] = e[j][i];
        pixels_to_places(d, places);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            vec_store_n(v + (ALONG * i + j) * step, places[j], width);
    }
}

/*
 * Asks for the cache line that begins at a channel of the next window: of its last SIDE x SIDE pixels, as those before
 * them were in windows to the left and above. The processor does not foresee them where images come from memory: a tile
 * jumps from row to row, and from pixel to pixel before it goes along the channels.
 */
INLINE void winograd_ask(const winograd_window *next, int64_t side, int64_t c)
{
    if (c % LINE != 0)
        return;
    const int64_t last = next->first + c + (side - SIDE) * (next->row + next->pixel);
    UNROLL
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const int64_t at = last + i * next->row + j * next->pixel;
            prefetch(next->dy + at);
            if (next->y)
                prefetch(next->y + at);
        }
}

/* B d B' of the pixels of a window, to v[place][channel]; asks for those of the next. */
INLINE void winograd_inputs(const winograd_window *w, const winograd_window *next, int64_t channels, float *v,
                            int64_t step)
{
    float seen[PLACES * VL] __attribute__((aligned(64))) = {0};
    for (int64_t c = 0; c < channels; c += VL) {
        const int64_t width = min64(VL, channels - c);
        const bool direct = winograd_direct(w);
        winograd_ask(next, ALONG, c);
        if (!direct)
            winograd_gather(w, ALONG, c, width, seen);
        const float *pixels = direct ? w->dy + w->first + c : seen;
        const int64_t row = direct ? w->row : ALONG * VL, pixel = direct ? w->pixel : VL;
        if (width == VL) /* nearly always: a constant spares the masks */
            winograd_input(pixels, row, pixel, VL, v + c, step);
        else
            winograd_input(pixels, row, pixel, width, v + c, step);
    }
}

/* Floats between tiles and places beyond what they hold: at powers of two they would share a few sets of a cache. */
enum { WINOGRAD_APART = 16 };

/* Forward, or with the filters turned round dX. */
typedef struct {
    conv_dz from; /* the image that is read: x is taken for a dz, .dy = x */
    int64_t n, pad_top, pad_left;
    int64_t depth;          /* channels read */
    int64_t p, q, channels; /* of the result, or of what of it lies under windows */
    winograd_tiles tiles;
    int64_t at_once;            /* tiles in scratch, or of a chunk where there are many */
    int64_t in_pitch, in_place; /* floats from tile to tile, and from place to place */
    const float *filters;       /* [K,3,3,C] */
    bool turned;                /* round, for dX */
    bool fresh;                 /* filters: each panel is transformed when it is used, none are in scratch */
    bool many;         /* tiles: each block's are transformed by whom they are multiplied by, none are in scratch */
    int64_t w_pitch;   /* floats from place to place of the transformed filters */
    float *w;          /* these: [panel of channels][place][depth][PANEL] */
    float *inputs;     /* B d B': [place][tile][in_pitch] */
    const float *bias; /* [panel][PANEL] or NULL */
    float *out;        /* [N,P,Q,channels], pooled [N,P/2,Q/2,channels] */
    bool accumulate, relu;
    bool stream;         /* out past the caches */
    bool pooled;         /* by ReLU and windows of 2x2 side by side; P and Q are even, bias is given */
    uint8_t *argmax;     /* of these, as out; or NULL */
    int64_t first, held; /* tiles now in scratch */
} winograd_sweep;

/* from (but for the pointers), n, pads, depth, p, q and channels are set; takes scratch. */
void GR_CPU(winograd_sweep_plan)(winograd_sweep *s, scratch *scratch);
#define winograd_sweep_plan GR_CPU(winograd_sweep_plan)

/* Takes the filters w[K,3,3,C]: for y, or turned round for dX. */
void GR_CPU(winograd_filters)(const gr_exec *exec, winograd_sweep *s, const float *w, bool turned);
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
