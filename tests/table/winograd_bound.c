/*
 * winograd_bound.c - the error bound that winograd.h states, on images with a few very large pixels: these are felt by
 * all results of their tile, also by those whose filter does not reach them, which the bound of conv2d does not allow.
 */
#include "tests/table/winograd_bound.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/philox.h"
#include "tests/table/checks.h"

enum {
    N = 4,
    ACROSS = 13, /* pixels of an image's side */
    C = 21,      /* no whole vectors */
    K = 32,
    ROW = (ACROSS + TILE_SIDE - 1) / TILE_SIDE, /* tiles */
    TILES = N * ROW * ROW,
    PIXELS = N * ACROSS * ACROSS,
    X = PIXELS * C,
    Y = PIXELS * K,
    W = K * 9 * C
};

typedef struct {
    double y[Y], dw[W];
} results;

typedef struct {
    float x[X], w[W], dy[Y];
    results truth, got, bound; /* bound: without eps and the root */
    double d[TILES][C][PLACES], u[K][C][PLACES], z[TILES][K][PLACES];
} sample;

/* --- |B d B'|, |G w G'| and |A' dy A| ----------------------------------------------------------------------------- */

/* Which pixel of the batch pixel [i, j] of a tile is; -1: outside its image. */
static int pixel_of(int tile, int i, int j)
{
    const int p = tile % (ROW * ROW) / ROW * TILE_SIDE + i, q = tile % ROW * TILE_SIDE + j;
    const bool inside = p >= 0 && p < ACROSS && q >= 0 && q < ACROSS;
    return inside ? (tile / (ROW * ROW) * ACROSS + p) * ACROSS + q : -1;
}

static void transform_tile(sample *s, int tile)
{
    for (int at = 0; at < PLACES; at++)
        for (int i = 0; i < WIDE; i++)
            for (int j = 0; j < WIDE; j++) {
                const int from = pixel_of(tile, i - 1, j - 1), to = pixel_of(tile, i, j);
                for (int c = 0; from >= 0 && c < C; c++)
                    s->d[tile][c][at] += B[at / WIDE][i] * B[at % WIDE][j] * fabs((double)s->x[from * C + c]);
                for (int k = 0; i < TILE_SIDE && j < TILE_SIDE && to >= 0 && k < K; k++)
                    s->z[tile][k][at] += A[i][at / WIDE] * A[j][at % WIDE] * fabs((double)s->dy[to * K + k]);
            }
}

void winograd_filter(const float *w, int channels, double *u)
{
    for (int at = 0; at < PLACES; at++)
        for (int tap = 0; tap < 9; tap++)
            u[at] += G[at / WIDE][tap / 3] * G[at % WIDE][tap % 3] * fabs((double)w[tap * channels]);
}

/* --- what they bound ---------------------------------------------------------------------------------------------- */

static void bound_tile(sample *s, int tile, int k)
{
    for (int at = 0; at < PLACES; at++) {
        double sum = 0;
        for (int c = 0; c < C; c++)
            sum += s->d[tile][c][at] * s->u[k][c][at];
        for (int i = 0; i < PLACES; i++) {
            const int p = i / WIDE, q = i % WIDE, to = pixel_of(tile, p, q);
            if (p < TILE_SIDE && q < TILE_SIDE && to >= 0)
                s->bound.y[to * K + k] += A[p][at / WIDE] * A[q][at % WIDE] * sum;
        }
    }
}

static void bound_filter(sample *s, int k, int c)
{
    for (int at = 0; at < PLACES; at++) {
        double sum = 0;
        for (int tile = 0; tile < TILES; tile++)
            sum += s->d[tile][c][at] * s->z[tile][k][at];
        for (int r = 0; r < 3; r++)
            for (int t = 0; t < 3; t++)
                s->bound.dw[((k * 3 + r) * 3 + t) * C + c] += G[at / WIDE][r] * G[at % WIDE][t] * sum;
    }
}

static void find_bounds(sample *s)
{
    for (int tile = 0; tile < TILES; tile++)
        transform_tile(s, tile);
    for (int k = 0; k < K; k++)
        for (int c = 0; c < C; c++)
            winograd_filter(s->w + k * 9 * C + c, C, s->u[k][c]);
    for (int k = 0; k < K; k++) {
        for (int tile = 0; tile < TILES; tile++)
            bound_tile(s, tile, k);
        for (int c = 0; c < C; c++)
            bound_filter(s, k, c);
    }
}

/* --- the convolution ---------------------------------------------------------------------------------------------- */

void winograd_draw(uint32_t which, float *to, int count, int channels, int rare)
{
    for (int i = 0; i < count; i++)
        to[i] = (2 * gr__random_uniform(7, GR_RNG_PROCEDURAL, which, (uint64_t)i) - 1) *
                (i > channels && i % (rare * channels) < channels ? 1e4f : 1);
}

static void draw(sample *s)
{
    winograd_draw(0, s->x, X, C, 97);
    winograd_draw(1, s->w, W, 1, W);
    winograd_draw(2, s->dy, Y, K, 89);
}

gr_tensor *winograd_put(gr_context *ctx, const int64_t shape[4], const float *values)
{
    gr_tensor *t = gr_variable(ctx, 4, shape);
    double *wide = calloc((size_t)gr_count(t), sizeof *wide);
    for (int64_t i = 0; i < gr_count(t); i++)
        wide[i] = (double)values[i];
    gr_upload(t, gr_real(ctx) == GR_F64 ? (const void *)wide : values);
    free(wide);
    return t;
}

void winograd_get(gr_context *ctx, gr_tensor *t, double *values)
{
    float *narrow = calloc((size_t)gr_count(t), sizeof *narrow);
    const bool wide = gr_real(ctx) == GR_F64;
    gr_download(t, wide ? (void *)values : narrow);
    for (int64_t i = 0; !wide && i < gr_count(t); i++)
        values[i] = (double)narrow[i];
    free(narrow);
}

static bool compute(const sample *s, const char *device, results *r)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *x = winograd_put(ctx, (int64_t[]){N, ACROSS, ACROSS, C}, s->x),
              *w = winograd_put(ctx, (int64_t[]){K, 3, 3, C}, s->w);
    gr_tensor *dy = winograd_put(ctx, (int64_t[]){N, ACROSS, ACROSS, K}, s->dy);
    gr_tensor *y = gr_conv2d(x, w, NULL, &(gr_conv2d_args){.window.padding = GR_SAME});
    winograd_get(ctx, y, r->y);
    gr_backward_from(y, dy);
    winograd_get(ctx, gr_grad(w), r->dw);
    return gr_close(ctx) == 0;
}

double winograd_share(const double *right, const double *got, const double *bound, int count, int terms)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(got[i] - right[i]) / ((double)FLT_EPSILON * sqrt(terms) * bound[i]));
    return largest;
}

int check_winograd(void)
{
    sample *s = calloc(1, sizeof *s);
    draw(s);
    find_bounds(s);
    const bool computed = compute(s, "ref", &s->truth) && compute(s, "cpu", &s->got);
    const double y = winograd_share(s->truth.y, s->got.y, s->bound.y, Y, C),
                 dw = winograd_share(s->truth.dw, s->got.dw, s->bound.dw, W, TILES);
    free(s);
    if (computed && y <= 1 && dw <= 1 && y > 0 && dw > 0)
        return 0;
    printf("FAIL cpu: a 3x3 convolution with large pixels: y is at %g of winograd.h's bound, dW at %g\n", y, dw);
    return 1;
}
