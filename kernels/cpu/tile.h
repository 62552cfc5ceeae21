/*
 * tile.h - the register tile: the one inner loop that every contraction of this folder runs in.
 *
 *   c[i][j] (+)= alpha (bias[j] + sum_{t,k} a[t a_segment + i a_row + k a_step] b[t b_segment + k b_step + j])
 *
 * over t < segments and k < depth, for i < rows and j < width <= PANEL. Up to TILE_ROWS x 2 vectors of c stay in
 * registers. a is read one element at a time and broadcast, so that it may lie in any order; b is read in whole
 * vectors, so that rows of b are PANEL long (zeros or garbage beyond width; garbage is never stored).
 *
 * A dense layer has one segment; in a convolution a segment is a filter row or an output row, and no image is ever
 * rearranged into columns: the strides walk over it where it lies.
 */
#ifndef GRADUS_CPU_TILE_H
#define GRADUS_CPU_TILE_H

#include "kernels/cpu/cpu.h"

typedef struct {
    const float *a;
    int64_t a_row, a_step, a_segment;
    const float *b;
    int64_t b_step, b_segment;
    int64_t depth, segments;
    const float *bias; /* [PANEL] or NULL */
    float *c;          /* [rows][width], pitch c_row */
    int64_t c_row, width;
    float alpha;
    bool accumulate; /* c += */
    bool relu;       /* c = max(0, c), after all else */
} tile;

/* Any number of rows, cut into tiles of about equal height. */
void GR_CPU(tile_rows)(const tile *t, int64_t rows);
#define tile_rows GR_CPU(tile_rows)

#endif
