/*
 * tile_bound.c - an element of dX or dW that Winograd's algorithm computed errs by what stands in its tile
 * (kernels/cpu/winograd.h), also where little gradient reaches it: in a corner without padding, where one tap does, or
 * in the last pixels of a side that windows leave out. All that a tile reads reaches one of its pixels at least: so
 * what is largest there counts for each of them. The nine taps of a filter's channel are made of the same tiles; where
 * pooling has left few gradients, so that some taps meet fewer of them than others, what is largest of the nine counts.
 */
#include "tests/table/tile_bound.h"

#include <math.h>
#include <stdlib.h>

enum {
    TILE_SIDE = 4,
    TAPS = 9,
    FEWEST = 16 /* channels on either side: FEW of kernels/cpu/winograd.c */
};

/* Whether the row's filters are such that Winograd's algorithm may be used for them. */
static bool is_winograd(const row *r)
{
    if (r->op->id != GR_OP_conv2d && r->op->id != GR_OP_conv2d_relu_max_pool)
        return false;
    const gr_conv2d_args *args = (const gr_conv2d_args *)r->args; /* those of the fused operation begin with them */
    const int64_t *w = r->shape[1];
    return w[1] == 3 && w[2] == 3 && w[0] >= FEWEST && w[3] >= FEWEST && args->window.stride[0] <= 1 &&
           args->window.stride[1] <= 1;
}

/* Of element `to` of dX[N,H,W,C]: over its tile; where a tile holds all of an image's dz, over the image. */
static double largest_of_tile(const truth *t, int buffer, int64_t to)
{
    const int64_t *x = t->run.row->shape[0], *y = t->run.buffers[trial_out(0)].t.shape;
    const int64_t side = y[1] <= TILE_SIDE && y[2] <= TILE_SIDE ? TILE_SIDE + 2 : TILE_SIDE;
    const int64_t c = to % x[3], q = to / x[3] % x[2] / side * side;
    const int64_t n = to / (x[1] * x[2] * x[3]), p = to / (x[2] * x[3]) % x[1] / side * side;
    double largest = 0;
    for (int64_t i = p; i < p + side && i < x[1]; i++)
        for (int64_t j = q; j < q + side && j < x[2]; j++)
            largest = fmax(largest, t->magnitude[buffer][((n * x[1] + i) * x[2] + j) * x[3] + c]);
    return largest;
}

/* Of element `to` of dW[K,3,3,C]: over the taps. */
static double largest_of_taps(const truth *t, int buffer, int64_t to)
{
    const int64_t C = t->run.row->shape[1][3], filter = TAPS * C;
    double largest = 0;
    for (int64_t tap = 0; tap < TAPS; tap++)
        largest = fmax(largest, t->magnitude[buffer][to / filter * filter + tap * C + to % C]);
    return largest;
}

double *tile_magnitudes(const truth *t, int buffer)
{
    const row *r = t->run.row;
    const bool dx = buffer == trial_d_in(0), dw = buffer == trial_d_in(1) && r->op->id == GR_OP_conv2d_relu_max_pool;
    if (!is_winograd(r) || !(dx || dw))
        return NULL;
    const int64_t count = trial_count(&t->run, buffer);
    double *largest = calloc((size_t)count + 1, sizeof *largest);
    for (int64_t to = 0; to < count; to++)
        largest[to] = dx ? largest_of_tile(t, buffer, to) : largest_of_taps(t, buffer, to);
    return largest;
}
