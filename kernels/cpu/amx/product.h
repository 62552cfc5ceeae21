/*
 * product.h - the one inner loop on tiles: a block of up to 32 x 32 sums.
 *
 *   c[i][j] (+)= sum_{t,s,d} a[i / 16][offset[t] + s a_step + (i % 16) a_row + d] b[t][s][d][j]
 *
 * over t < taps, s < steps and d < 32. The two tiles of rows may lie anywhere, each with its rows at the same distance:
 * so a convolution reads its pixels where they lie. Of factors in pieces (pieces.h) the sum runs over their products,
 * too, outermost, the smallest first.
 */
#ifndef GRADUS_CPU_PRODUCT_H
#define GRADUS_CPU_PRODUCT_H

#include "kernels/cpu/amx/pieces.h"

typedef struct {
    const uint16_t *a[2]; /* bf16; the second NULL: 16 rows alone */
    int64_t a_row, a_step;
    const int64_t *offsets;
    int64_t taps, steps;
    const uint16_t *b; /* [tap][step][B_STEP] */
    int pieces;        /* of both, 1 to MOST_PIECES, at distances: */
    int64_t a_piece, b_piece;
    float *c; /* [32][32], pitch c_row */
    int64_t c_row;
    bool accumulate;
    bool narrow;   /* TILE columns of c are wanted: what becomes of the others is not said */
    int64_t zeros; /* pairs at the end of each tap's last step that are 0 in a and b: they may be left out */
    bool passing;  /* b is not read again soon: it is not to push the rows of a out of the first-level cache */
} tile_product;

/* Between tiles_begin and tiles_end. */
void GR_TILED(tile_product_run)(const tile_product *p);
#define tile_product_run GR_TILED(tile_product_run)

#endif
