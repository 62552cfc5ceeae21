/*
 * conv_pooled_grad_w.c - dW and db of many channels from the winners of pooling windows, see conv_pooled.h.
 *
 * One filter at once, whose winners are listed first, by AVX-512 of VL filters together. A winner sees 3 C neighbours
 * in each of three rows; their sums stay in registers while the list goes by.
 */
#include "kernels/cpu/ahead.h"
#include "kernels/cpu/conv_pooled.h"

enum { ROWS_AT_ONCE = VL == 16 ? POOL_TAPS : 1 }; /* filter rows whose sums the registers hold */

/* The windows of a unit: its filters from k on. */
typedef struct {
    const float *dy;
    const uint8_t *argmax;
    int64_t count, pitch; /* windows, numbers from one to the next */
} unit_windows;

static unit_windows windows_of(const pooled_unit *unit, int64_t k)
{
    const pooled_results r = conv_pooled_results(unit, GR_F32, unit->box.row.begin / 2, k);
    return (unit_windows){(const float *)r.dy, r.argmax, conv_pooled_windows(unit), r.pitch};
}

/*
 * Lists the winners of n (1..VL) filters by filter; at: where the pixels begin that they see, of window (i, j) at place
 * (0, 0) 2 i rows and 2 j pixels behind the first.
 */
#if defined(__AVX512F__)
static void list_winners(const pooled_unit *unit, const unit_windows *w, int64_t n, int64_t channels, winner *lists,
                         int64_t room, int32_t *counts)
{
    float dy[VL][VL] __attribute__((aligned(64))), at[VL][VL] __attribute__((aligned(64)));
    float turned_dy[VL][VL] __attribute__((aligned(64))), turned_at[VL][VL] __attribute__((aligned(64)));
    const int64_t q = unit->dz->pool.q;
    const int32_t pixel = (int32_t)channels, row = (int32_t)unit->pitch;
    const ivec places = {0, pixel, row, row + pixel};
    for (int64_t first = 0, i = 0, j = 0; first < w->count; first += VL) {
        for (int64_t u = 0; u < VL; u++) {
            const bool there = first + u < w->count; /* a window that is not has no winners */
            const int64_t from = (there ? first + u : 0) * w->pitch;
            const ivec place = conv_pooled_places(w->argmax + from, n);
            const ivec sees = (int32_t)(2 * (i * row + j * pixel)) + (ivec)vec_pick((vec)places, place & 3, 0);
            const mask won = ivec_less(place, there ? POOL_PLACES : 0);
            vec_store(dy[u], vec_load_n(w->dy + from, n));
            vec_store(at[u], (vec)ivec_select(won, sees, ivec_all(-1)));
            if (++j == q)
                i++, j = 0;
        }
        transpose(dy[0], VL, VL, VL, turned_dy[0], VL);
        transpose(at[0], VL, VL, VL, turned_at[0], VL);
        for (int64_t k = 0; k < n; k++) {
            const vec sees = vec_load(turned_at[k]);
            const mask won = (mask)~ivec_less((ivec)sees, 0);
            counts[k] += vec_store_pairs(&lists[k * room + counts[k]].dy, won, vec_load(turned_dy[k]), sees);
        }
    }
}
#else
static void list_winners(const pooled_unit *unit, const unit_windows *w, int64_t n, int64_t channels, winner *lists,
                         int64_t room, int32_t *counts)
{
    const int64_t q = unit->dz->pool.q;
    const int32_t pixel = (int32_t)channels, row = (int32_t)unit->pitch;
    const int32_t places[POOL_PLACES] = {0, pixel, row, row + pixel};
    for (int64_t k = 0; k < n; k++)
        for (int64_t window = 0, i = 0, j = 0; window < w->count; window++) {
            /* Nothing is asked about any of them: the processor would guess wrong. */
            const int place = w->argmax[window * w->pitch + k];
            const int32_t sees = (int32_t)(2 * (i * row + j * pixel)) + places[place % POOL_PLACES];
            lists[k * room + counts[k]] = (winner){w->dy[window * w->pitch + k], sees};
            counts[k] += place < POOL_PLACES;
            if (++j == q)
                i++, j = 0;
        }
}
#endif

/* db of n (1..VL) filters += dy of the winners. */
static void add_bias(const unit_windows *w, int64_t n, float *db)
{
    const pooled_results results = {(const char *)w->dy, w->argmax, n, w->pitch};
    vec sum = {0};
    uint8_t room[VL];
    for (int64_t at = 0; at < w->count * w->pitch; at += w->pitch)
        sum += conv_pooled_dy(&results, GR_F32, at, n, conv_pooled_bytes(w->argmax + at, n, room));
    vec_store_n(db, vec_load_n(db, n) + sum, n);
}

/* n > 0 winners: WIDE_VECTORS vectors of so many rows of one filter, which lie dw_pitch apart in dw and pitch in x. */
INLINE void add_wide(const winner *list, int64_t n, const float *x, int64_t pitch, float *dw, int64_t dw_pitch,
                     const int rows)
{
    vec sum[POOL_TAPS * WIDE_VECTORS];
    UNROLL
    for (int i = 0; i < rows * WIDE_VECTORS; i++)
        sum[i] = vec_load(dw + i / WIDE_VECTORS * dw_pitch + i % WIDE_VECTORS * VL);
    const winner *end = list + n;
    do {
        const vec dy = vec_all(list->dy);
        const float *row = x + list->at;
        UNROLL
        for (int r = 0; r < rows; r++, row += pitch) {
            UNROLL
            for (int v = 0; v < WIDE_VECTORS; v++)
                sum[r * WIDE_VECTORS + v] += dy * vec_load(row + v * VL);
        }
    } while (++list < end);
    UNROLL
    for (int i = 0; i < rows * WIDE_VECTORS; i++)
        vec_store(dw + i / WIDE_VECTORS * dw_pitch + i % WIDE_VECTORS * VL, sum[i]);
}

/* One filter's dw[3][3 C] from its winners. */
static void add_filter(const pooled_unit *unit, int64_t channels, const winner *list, int64_t n, float *dw)
{
    const int64_t row = POOL_TAPS * channels;
    for (int64_t c = 0; c < row && n > 0; c += WIDE_VECTORS * VL)
        for (int r = 0; r < POOL_TAPS; r += ROWS_AT_ONCE)
            add_wide(list, n, unit->x + r * unit->pitch + c, unit->pitch, dw + r * row + c, row, ROWS_AT_ONCE);
}

/* Lists what the next unit reads of x and dY: winners jump about in them, which the processor does not foresee. */
static void list_next(const pooled_unit *unit, int64_t filters, ahead *next)
{
    ahead_clear(next);
    const unit_windows w = windows_of(unit, 0);
    if (unit->next.bytes > 0) {
        ahead_add_run(next, unit->next);
        ahead_add(next, w.dy + w.count * w.pitch, w.count, filters, w.pitch);
    }
}

void conv_pooled_wide_add(const pooled_unit *unit, int64_t channels, winner *lists, int64_t room)
{
    const int64_t filters = unit->box.channel.end - unit->box.channel.begin;
    ahead next;
    list_next(unit, filters, &next);
    ahead_begin(&next, filters);
    for (int64_t k = 0; k < filters; k += VL) {
        const int64_t n = min64(VL, filters - k);
        const unit_windows w = windows_of(unit, k);
        int32_t counts[VL] = {0};
        list_winners(unit, &w, n, channels, lists, room, counts);
        for (int64_t i = 0; i < n; i++) {
            ahead_ask(&next);
            add_filter(unit, channels, lists + i * room, counts[i],
                       unit->dw + (k + i) * POOL_TAPS * POOL_TAPS * channels);
        }
        if (unit->db)
            add_bias(&w, n, unit->db + k);
    }
}
