/*
 * conv_pooled_forward.c - pictures under 3x3 filters, ReLU and windows of 2x2, see conv_pooled.h.
 *
 * A result is only 27 products, so that what surrounds them counts: 2 vectors of filters at WINDOWS windows are summed
 * at once, and the best of the four places of each is chosen where the sums lie, in registers.
 *
 *    windows   j       j+1     j+2
 *    row 2i    0  1    0  1    0  1     12 places, read at fixed distances from two pointers: rows 2i+r and 2i+1+r
 *    row 2i+1  2  3    2  3    2  3     of x, of which taps lie side by side, S*C = 9 numbers to a row
 */
#include "kernels/cpu/conv_pooled.h"
#include "kernels/cpu/pooling.h"

enum {
    ROW_TAPS = POOL_TAPS * COLOURS,
#ifdef TALL_TILES
    WINDOWS = 3 /* 24 sums of 32 registers */
#else
    WINDOWS = 1 /* 8 of 16 */
#endif
};

/* sum[window][place][v] += the filters' row w[ROW_TAPS][PANEL] times what the places see of x. */
INLINE void add_row(const float *x, int64_t pitch, const float *w, vec sum[][POOL_PLACES][2], const int windows)
{
    const float *row[2] = {x, x + pitch};
    for (int t = 0; t < ROW_TAPS; t++) {
        __asm__ volatile("" ::: "memory"); /* what neighbours share is read again: kept, it would displace sums */
        const vec w0 = vec_load(w + t * PANEL), w1 = vec_load(w + t * PANEL + VL);
        UNROLL
        for (int i = 0; i < windows * POOL_PLACES; i++) {
            const int j = i / POOL_PLACES, u = i >> 1 & 1, v = i & 1;
            const float seen = row[u][(2 * j + v) * COLOURS + t];
            sum[j][2 * u + v][0] += seen * w0;
            sum[j][2 * u + v][1] += seen * w1;
        }
    }
}

/* So many windows from `at` on. What is no larger than 0 does not compete: that is the ReLU. */
INLINE void run(const colours_row *row, int64_t at, const int windows)
{
    vec sum[WINDOWS][POOL_PLACES][2];
    UNROLL
    for (int i = 0; i < windows * POOL_PLACES * 2; i++)
        sum[i / 2 / POOL_PLACES][i / 2 % POOL_PLACES][i % 2] = vec_load(row->bias + i % 2 * VL);
    for (int r = 0; r < POOL_TAPS; r++)
        add_row(row->x + r * row->pitch + at * 2 * COLOURS, row->pitch, row->w + r * ROW_TAPS * PANEL, sum, windows);
    UNROLL
    for (int i = 0; i < windows * 2; i++) {
        const int64_t k = i % 2 * VL, to = (at + i / 2) * row->k + k;
        best b = {{0}, ivec_all(NOWHERE)};
        UNROLL
        for (int place = 0; place < POOL_PLACES; place++)
            compete(&b, sum[i / 2][place][i % 2], place);
        if (k < row->width)
            write_best(&b, row->y + to, row->argmax ? row->argmax + to : NULL, min64(VL, row->width - k));
    }
}

void conv_pooled_colours_run(const colours_row *row)
{
    int64_t at = 0;
    for (; at + WINDOWS <= row->windows; at += WINDOWS)
        run(row, at, WINDOWS);
    for (; at < row->windows; at++)
        run(row, at, 1);
}
