/*
 * conv_pooled_patches.c - dW and db of pictures from the winners of pooling windows, see conv_pooled.h: where vectors
 * are shorter than AVX-512's.
 *
 * What a filter sees of x from where it won are 27 numbers: as many as dW has for it, and in the same order, once the
 * three rows lie one behind the other. So the rows of each window are copied one behind the other, twice: what is seen
 * from its left column on, and from its right one. Then dy times such a patch is added to the filter's sums, which stay
 * in registers for a block of windows. A filter that did not win sees zeros.
 */
#include "kernels/cpu/conv_pooled.h"

#ifndef __AVX512F__

enum {
    SEEN = POOL_TAPS * COLOURS, /* numbers of a row */
    TAPS = POOL_TAPS * SEEN,
    VECTORS = (TAPS + VL - 1) / VL,
    COLUMN = POOL_PATCH * SEEN + 12, /* of all four rows; behind them what the last vector reads and does not use */
    WINDOW = 2 * COLUMN,
    BLOCK = 32,               /* windows, whose patches stay in the first-level cache */
    NOTHING = BLOCK * WINDOW, /* where the zeros lie */
    FILTERS = 2               /* whose sums the registers hold */
};

/* A block of windows under PANEL filters. */
typedef struct {
    float patches[NOTHING + VECTORS * VL] __attribute__((aligned(64)));
    float dy[BLOCK][PANEL] __attribute__((aligned(64)));   /* 0 of filters that did not win */
    int32_t at[BLOCK][PANEL] __attribute__((aligned(64))); /* what they saw of patches */
} block;

/* From where filters that won at places 0..3 see: the left or the right column, from its first or its second row on. */
static const uint8_t places[16] = {0, COLUMN, SEEN, COLUMN + SEEN};

/* What a window sees, four rows of x, as two columns. */
static void copy_patches(const float *x, int64_t pitch, float *to)
{
    for (int column = 0; column < 2; column++)
        for (int row = 0; row < POOL_PATCH; row++) {
            const float *from = x + row * pitch + column * COLOURS;
            float *seen = to + column * COLUMN + row * SEEN;
            UNROLL
            for (int i = 0; i + VL < SEEN; i += VL)
                vec_store(seen + i, vec_load(from + i));
            vec_store(seen + SEEN - VL, vec_load(from + SEEN - VL));
        }
}

/* Window i of the block, number w of the unit, under a vector of filters from k on. Returns dy. */
INLINE vec list_winners(const pooled_results *r, gr_type type, int64_t w, int64_t k, int64_t i, block *b)
{
    uint8_t room[VL];
    const int64_t at = w * r->pitch + k, n = min64(VL, r->filters - k);
    const uint8_t *place = conv_pooled_bytes(r->argmax + at, n, room);
    const vec dy = conv_pooled_dy(r, type, at, n, place);
    const ivec sees = ivec_from_table(place, places) + (int32_t)(i * WINDOW);
    vec_store(b->dy[i] + k, dy);
    vec_store((float *)b->at[i] + k, (vec)ivec_select(bytes_less(place, POOL_PLACES), sees, ivec_all(NOTHING)));
    return dy;
}

/* dw[FILTERS][TAPS] += what their winners in n windows saw, times dy. */
INLINE void add_patches(const block *b, int64_t n, int64_t k, float *dw)
{
    enum { LAST = VECTORS - 1 };
    vec sum[FILTERS][VECTORS];
    UNROLL
    for (int f = 0; f < FILTERS; f++) {
        UNROLL
        for (int v = 0; v < LAST; v++)
            sum[f][v] = vec_load(dw + f * TAPS + v * VL);
        sum[f][LAST] = vec_load_n(dw + f * TAPS + LAST * VL, TAPS - LAST * VL);
    }
    for (int64_t i = 0; i < n; i++) {
        UNROLL
        for (int f = 0; f < FILTERS; f++) {
            const float *seen = b->patches + b->at[i][k + f];
            const vec dy = vec_all(b->dy[i][k + f]);
            UNROLL
            for (int v = 0; v < VECTORS; v++)
                sum[f][v] += dy * vec_load(seen + v * VL);
        }
    }
    UNROLL
    for (int f = 0; f < FILTERS; f++) {
        UNROLL
        for (int v = 0; v < LAST; v++)
            vec_store(dw + f * TAPS + v * VL, sum[f][v]);
        vec_store_n(dw + f * TAPS + LAST * VL, sum[f][LAST], TAPS - LAST * VL);
    }
}

/* n windows of the unit, counted along its rows from the first one on: their patches, winners and db. */
INLINE void fill(const pooled_unit *unit, const pooled_results *r, gr_type type, int64_t first, int64_t n, block *b)
{
    const int64_t q = unit->dz->pool.q;
    vec bias[PANEL / VL] = {{0}};
    for (int64_t i = 0, row = first / q, column = first % q; i < n; i++) {
        copy_patches(unit->x + 2 * (row * unit->pitch + column * COLOURS), unit->pitch, b->patches + i * WINDOW);
        conv_pooled_ask(r, type, first + i);
        for (int64_t k = 0; k < r->filters; k += VL)
            bias[k / VL] += list_winners(r, type, first + i, k, i, b);
        if (++column == q)
            row++, column = 0;
    }
    for (int64_t k = 0; unit->db && k < PANEL; k += VL)
        vec_store(unit->db + k, vec_load(unit->db + k) + bias[k / VL]);
}

INLINE void add_unit(const pooled_unit *unit, gr_type type)
{
    const int64_t windows = conv_pooled_windows(unit), blocks = ceil_div(windows, BLOCK);
    const pooled_results r = conv_pooled_results(unit, type, unit->box.row.begin / 2, 0);
    block b;
    memset(&b, 0, sizeof b); /* filters behind the last one have no dy */
    ahead next;
    ahead_clear(&next);
    ahead_add_run(&next, unit->next);
    ahead_begin(&next, blocks * ceil_div(r.filters, FILTERS));
    for (int64_t i = 0; i < blocks; i++) {
        const span part = part_of(windows, i, blocks);
        fill(unit, &r, type, part.begin, part.end - part.begin, &b);
        for (int64_t k = 0; k < r.filters; k += FILTERS) {
            ahead_ask(&next);
            add_patches(&b, part.end - part.begin, k, unit->dw + k * TAPS);
        }
    }
}

void conv_pooled_colours_add(const pooled_unit *unit)
{
    if (unit->dz->type == GR_F32)
        add_unit(unit, GR_F32);
    else if (unit->dz->type == GR_F16)
        add_unit(unit, GR_F16);
    else
        add_unit(unit, GR_BF16);
}

#endif
