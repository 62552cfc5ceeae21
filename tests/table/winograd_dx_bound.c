/*
 * winograd_dx_bound.c - the error bound that winograd.h states of dX where a tile holds all of an image's dz, with a
 * few very large gradients, which all pixels of their image feel.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/table/checks.h"
#include "tests/table/winograd_bound.h"

enum {
    N = 40,
    C = 21, /* no whole vectors */
    K = 32,
    X = N * PLACES * C, /* images of 6x6 pixels */
    Z = N * TILE_SIDE * TILE_SIDE * K,
    W = K * 9 * C
};

typedef struct {
    float w[W], dz[Z];
    double truth[X], got[X], bound[X]; /* bound: without eps and the root */
    double u[K][C][PLACES];            /* |G w G'| */
} sample;

/* |A' dz A| of an image at a place. */
static double transform_image(const sample *s, int n, int k, int at)
{
    double z = 0;
    for (int i = 0; i < TILE_SIDE * TILE_SIDE; i++)
        z += A[i / TILE_SIDE][at / WIDE] * A[i % TILE_SIDE][at % WIDE] *
             fabs((double)s->dz[(n * TILE_SIDE * TILE_SIDE + i) * K + k]);
    return z;
}

static void bound_image(sample *s, int n)
{
    for (int at = 0; at < PLACES; at++) {
        double sum[C] = {0};
        for (int k = 0; k < K; k++) {
            const double z = transform_image(s, n, k, at);
            for (int c = 0; c < C; c++)
                sum[c] += z * s->u[k][c][at];
        }
        for (int i = 0; i < PLACES; i++)
            for (int c = 0; c < C; c++)
                s->bound[(n * PLACES + i) * C + c] += B[at / WIDE][i / WIDE] * B[at % WIDE][i % WIDE] * sum[c];
    }
}

static bool compute(const sample *s, const char *device, double *dx)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *x = gr_variable(ctx, 4, (int64_t[]){N, WIDE, WIDE, C});
    gr_tensor *w = winograd_put(ctx, (int64_t[]){K, 3, 3, C}, s->w);
    gr_tensor *dz = winograd_put(ctx, (int64_t[]){N, TILE_SIDE, TILE_SIDE, K}, s->dz);
    gr_backward_from(gr_conv2d(x, w, NULL, &(gr_conv2d_args){0}), dz);
    winograd_get(ctx, gr_grad(x), dx);
    return gr_close(ctx) == 0;
}

int check_winograd_dx(void)
{
    sample *s = calloc(1, sizeof *s);
    winograd_draw(1, s->w, W, 1, W);
    winograd_draw(2, s->dz, Z, K, 89);
    for (int k = 0; k < K; k++)
        for (int c = 0; c < C; c++)
            winograd_filter(s->w + k * 9 * C + c, C, s->u[k][c]);
    for (int n = 0; n < N; n++)
        bound_image(s, n);
    const bool computed = compute(s, "ref", s->truth) && compute(s, "cpu", s->got);
    const double share = winograd_share(s->truth, s->got, s->bound, X, K);
    free(s);
    if (computed && share <= 1 && share > 0)
        return 0;
    printf("FAIL cpu: dX of 6x6 pixels with large gradients is at %g of winograd.h's bound\n", share);
    return 1;
}
