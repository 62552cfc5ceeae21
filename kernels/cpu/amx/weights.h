/*
 * weights.h - rows of weights, rounded to bf16 or split into pieces as they are read, and pairs of rows as the right
 * factor of tile products wants them.
 */
#ifndef GRADUS_CPU_AMX_WEIGHTS_H
#define GRADUS_CPU_AMX_WEIGHTS_H

#include "kernels/cpu/amx/pieces.h"

/* The pieces of from[0..n), and of zeros up to `width`. */
INLINE void floats_row(const float *from, int64_t n, uint16_t *to, int64_t width, const int pieces, int64_t distance)
{
    int64_t i = 0;
    for (; i + VL <= n; i += VL)
        split(vec_load(from + i), pieces, to + i, distance);
    for (; i < width; i += VL)
        split(vec_load_n(from + i, max64(0, n - i)), pieces, to + i, distance);
}

/*
 * to[0..n) = elements of w, f32 or bf16, from `at` on, in bf16; zeros up to `width`, a multiple of STEP. Pieces lie at
 * a distance; one of a float is what it is rounded to.
 */
INLINE void weights_row(const gr_tensor *w, int64_t at, int64_t n, uint16_t *to, int64_t width, int pieces,
                        int64_t distance)
{
    if (w->type != GR_F32)
        for (int64_t i = 0; i < width; i += STEP)
            step_copy((const uint16_t *)w->data + at + i, to + i, n - i);
    else if (pieces == 1)
        floats_row((const float *)w->data + at, n, to, width, 1, 0);
    else
        floats_row((const float *)w->data + at, n, to, width, pieces, distance);
}

/* Where pairs of rows go. */
typedef struct {
    uint16_t *to;
    int64_t panel, piece; /* distances of panels of BLOCK columns and of pieces */
    int pieces;
} pair_rows;

/* Two rows of n elements of w, which begin at low and at high - below 0: zeros - as one row of pairs in each panel. */
INLINE void weights_pair(const gr_tensor *w, int64_t low, int64_t high, int64_t n, pair_rows p)
{
    enum { SPAN = 512 /* elements that are rounded at a time */ };
    uint16_t two[2][MOST_PIECES][SPAN] __attribute__((aligned(64)));
    for (int64_t first = 0; first < n; first += SPAN) {
        const int64_t some = min64(SPAN, n - first), width = round_up(some, BLOCK);
        weights_row(w, max64(0, low) + first, low < 0 ? 0 : some, two[0][0], width, p.pieces, SPAN);
        weights_row(w, max64(0, high) + first, high < 0 ? 0 : some, two[1][0], width, p.pieces, SPAN);
        for (int64_t j = 0; j < width; j += BLOCK, p.to += p.panel)
            for (int i = 0; i < p.pieces; i++) {
                uint16_t *to = p.to + i * p.piece;
                pair_up(two[0][i] + j, two[1][i] + j, to, TILE);
                pair_up(two[0][i] + j + TILE, two[1][i] + j + TILE, to + B_STEP / 2, TILE);
            }
    }
}

#endif
