/*
 * dense_tile.h - the register tile of dense layers.
 *
 *   c[i][j] (+)= alpha (bias[j] + sum_k a[i][k] b[k][j])      for i < rows, j < width <= PANEL
 *
 * as tile.h has it, but for operands that come from memory: while it computes it asks for what the next block needs,
 * into the second-level cache: a block is twice as large as the first, and lines on their way there wait in fewer
 * buffers than the memory's latency wants.
 */
#ifndef GRADUS_CPU_DENSE_TILE_H
#define GRADUS_CPU_DENSE_TILE_H

#include "kernels/cpu/ahead.h"

enum { SPELL = 16 }; /* steps of depth between two chances to ask ahead */

typedef struct {
    const float *a; /* a[i][k] at i a_row + k a_step */
    int64_t a_row, a_step;
    const float *b; /* b[k][j] at k b_step + j: whole panels */
    int64_t b_step;
    int64_t depth;
    const float *bias; /* [PANEL] or NULL */
    float *c;          /* [rows][width], pitch c_row */
    int64_t c_row, width;
    float alpha;
    bool accumulate; /* c += */
    bool relu;       /* c = max(0, c), after all else */
    bool stream;     /* c past the caches: whole aligned vectors, nobody reads them soon */
    ahead *ahead;
} dense_tile;

/* Any number of rows, cut into tiles of about equal height. */
void GR_CPU(dense_tile_rows)(const dense_tile *t, int64_t rows);
#define dense_tile_rows GR_CPU(dense_tile_rows)

/* Chances to ask ahead that dense_tile_rows gives. */
INLINE int64_t dense_tile_chances(int64_t rows, int64_t depth)
{
    return ceil_div(rows, TILE_ROWS) * ceil_div(depth, SPELL);
}

#endif
