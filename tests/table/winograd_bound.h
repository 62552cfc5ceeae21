/*
 * winograd_bound.h - shared by the checks of the error bounds that kernels/cpu/winograd.h states: its matrices, numbers
 * to compute with, and errors as shares of a bound.
 */
#ifndef GRADUS_TABLE_WINOGRAD_BOUND_H
#define GRADUS_TABLE_WINOGRAD_BOUND_H

#include "gradus.h"

enum { TILE_SIDE = 4, WIDE = TILE_SIDE + 2, PLACES = WIDE * WIDE };

/* |A|, |B| and |G| of winograd.h. */
static const double A[TILE_SIDE][WIDE] = {{1, 1, 1, 1, 1, 0},
                                          {0, .75, .75, 1.5, 1.5, 0},
                                          {0, .5625, .5625, 2.25, 2.25, 0},
                                          {0, .421875, .421875, 3.375, 3.375, 1}},
                    B[WIDE][WIDE] = {{1.265625, 0, 2.8125, 0, 1, 0}, {0, 1.6875, 2.25, .75, 1, 0},
                                     {0, 1.6875, 2.25, .75, 1, 0},   {0, .84375, .5625, 1.5, 1, 0},
                                     {0, .84375, .5625, 1.5, 1, 0},  {0, 1.265625, 0, 2.8125, 0, 1}},
                    G[WIDE][3] = {{64. / 81, 0, 0},
                                  {128. / 243, 32. / 81, 8. / 27},
                                  {128. / 243, 32. / 81, 8. / 27},
                                  {32. / 243, 16. / 81, 8. / 27},
                                  {32. / 243, 16. / 81, 8. / 27},
                                  {0, 0, 1}};

/*
 * Numbers [..][channels] in [-1, 1); one pixel of `rare`, but for the first, is 10,000 times as large. which: 0 x, 1 w,
 * 2 dy.
 */
void winograd_draw(uint32_t which, float *to, int count, int channels, int rare);

/* u[PLACES] += |G w G'| of one filter's taps w[3][3], which lie `channels` floats apart. */
void winograd_filter(const float *w, int channels, double *u);

/* A variable of float values in the context's type, and the other way. */
gr_tensor *winograd_put(gr_context *ctx, const int64_t shape[4], const float *values);
void winograd_get(gr_context *ctx, gr_tensor *t, double *values);

/* The largest error as a share of eps sqrt(terms) times its bound. */
double winograd_share(const double *right, const double *got, const double *bound, int count, int terms);

#endif
