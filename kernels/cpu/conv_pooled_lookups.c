/*
 * conv_pooled_lookups.c - dW and db of pictures from the winners of pooling windows, see conv_pooled.h: for AVX-512,
 * whose registers each hold what five taps show of two rows.
 *
 * VL filters at once, of which as many taps are summed as registers hold while the windows of a row go by: half of
 * all. For tap (r, s, c) each filter wants one of four numbers, x at row r or r + 1 and at column s or s + 1: one
 * look-up and one product. These share ports, which is the limit: 4/3 cycles for a tap of 16 filters on Zen 4.
 */
#include "kernels/cpu/conv_pooled.h"

#ifdef __AVX512F__

enum { ROW_TAPS = POOL_TAPS * COLOURS };

/*
 * Where filters that won at places 0..3 look, for vec_pick: in the upper or lower row, at this column or the next. That
 * is 0, 3, LOWER and LOWER + 3, where LOWER is 6 and a little.
 */
static const uint8_t looks_of[16] = {0, COLOURS, VEC_PICK_LOWER, VEC_PICK_LOWER + COLOURS};

/* Of VL filters from k on, what row `line` of windows adds to taps t .. t + taps of each filter row. */
INLINE void add_taps(const pooled_unit *unit, gr_type type, int64_t line, int64_t k, const int t, const int taps)
{
    const pooled_results results = conv_pooled_results(unit, type, line, k);
    const int64_t filters = min64(VL, results.filters);
    const int skipped = t ? t - 1 : 0; /* numbers of a row of x before those looked at: no more than a filter sees */
    float *dw = unit->dw + t * PANEL + k;
    vec sum[POOL_TAPS * ROW_TAPS], bias = {0};
    UNROLL
    for (int i = 0; i < POOL_TAPS * taps; i++)
        sum[i] = vec_load(dw + (i / taps * ROW_TAPS + i % taps) * PANEL);
    const float *x = unit->x + (2 * line - unit->box.row.begin) * unit->pitch + skipped;
    for (int64_t j = 0; j < unit->dz->pool.q; j++, x += 2 * COLOURS) {
        uint8_t room[VL];
        conv_pooled_ask(&results, type, j);
        const uint8_t *place = conv_pooled_bytes(results.argmax + j * results.pitch, filters, room);
        const ivec looks = ivec_from_table(place, looks_of);
        const vec dy = conv_pooled_dy(&results, type, j * results.pitch, filters, place);
        bias += dy;
        vec seen[POOL_TAPS];
        UNROLL
        for (int row = 0; row < POOL_TAPS; row++)
            seen[row] = vec_eights_at(x + row * unit->pitch, x + (row + 1) * unit->pitch);
        UNROLL
        for (int tap = 0; tap < POOL_TAPS * taps; tap++)
            sum[tap] += dy * vec_pick(seen[tap / taps], looks, t - skipped + tap % taps);
    }
    UNROLL
    for (int i = 0; i < POOL_TAPS * taps; i++)
        vec_store(dw + (i / taps * ROW_TAPS + i % taps) * PANEL, sum[i]);
    if (unit->db && t == 0)
        vec_store(unit->db + k, vec_load(unit->db + k) + bias);
}

/* What a row of windows adds, whose dY and argmax stay in the first-level cache for all taps. */
INLINE void add_window_row(const pooled_unit *unit, gr_type type, int64_t line, ahead *next)
{
    enum { HALF = (ROW_TAPS + 1) / 2 };
    for (int64_t k = 0; k < unit->box.channel.end - unit->box.channel.begin; k += VL) {
        ahead_ask(next);
        add_taps(unit, type, line, k, 0, HALF); /* 15 sums, then 12, and what they see of x in 3 registers */
        add_taps(unit, type, line, k, HALF, ROW_TAPS - HALF);
    }
}

INLINE void add_colours(const pooled_unit *unit, gr_type type)
{
    const int64_t filters = unit->box.channel.end - unit->box.channel.begin;
    const int64_t begin = unit->box.row.begin / 2, end = min64(unit->dz->pool.p, unit->box.row.end / 2);
    ahead next;
    ahead_clear(&next);
    ahead_add_run(&next, unit->next);
    ahead_begin(&next, (end - begin) * ceil_div(filters, VL));
    for (int64_t line = begin; line < end; line++)
        add_window_row(unit, type, line, &next);
}

void conv_pooled_colours_add(const pooled_unit *unit)
{
    if (unit->dz->type == GR_F32)
        add_colours(unit, GR_F32);
    else if (unit->dz->type == GR_F16)
        add_colours(unit, GR_F16);
    else
        add_colours(unit, GR_BF16);
}

#endif
