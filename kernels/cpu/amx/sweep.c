/*
 * sweep.c - see sweep.h.
 *
 * Units are as large as a quarter of a second-level cache allows, so that a panel of filters, which comes from farther
 * away where there are many of them, is used for many pixels. Where there are many units, each is copied and multiplied
 * by one thread, whose cache it does not leave; where there are few, all threads copy them, then take panels of them.
 */
#include "kernels/cpu/amx/sweep.h"

#include "kernels/cpu/amx/product.h"
#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/any_float.h"

enum {
    UNIT_HALVES = 1 << 18,
    COPIED_HALVES = 1 << 22, /* of all units at once */
    SHARES = 16              /* pieces of work that keep many processors busy */
};

static void cut(tiled_sweep *s)
{
    const cell_layout *l = &s->cells;
    const gr_geometry *g = &l->g;
    const int64_t pieces = s->from.pieces, whole = max64(1, cell_rows(l, g->p) * l->row * pieces);
    s->unit_groups = max64(1, min64(UNIT_HALVES / whole, l->groups * s->panels / SHARES));
    s->blocks = 1;
    if (s->unit_groups == 1) {
        const int64_t each = max64(1, cell_stride(l) * l->row * pieces);
        const int64_t fit = max64(1, (UNIT_HALVES - cell_rows(l, 1) * l->row * pieces) / each);
        s->blocks = max64(ceil_div(g->p, fit), min64(g->p, ceil_div(SHARES, l->groups * s->panels)));
    }
    s->rows = ceil_div(g->p, s->blocks);
    s->blocks = ceil_div(g->p, s->rows);
    s->units = ceil_div(l->groups, s->unit_groups) * s->blocks;
}

void tiled_sweep_plan(tiled_sweep *s, scratch *room)
{
    const cell_layout *l = &s->cells;
    s->panels = ceil_div(s->channels, BLOCK);
    cut(s);
    s->group_halves = max64(0, cell_rows(l, s->rows)) * l->row;
    s->unit_halves = s->unit_groups * s->group_halves + TILE * l->depth; /* the last tile may read on */
    s->at_once = min64(s->units, max64(1, COPIED_HALVES / (s->unit_halves * s->from.pieces)));
    s->splits = min64(s->panels, ceil_div(SHARES, s->at_once));
    s->from.distance = s->at_once * s->unit_halves;
    s->copies = scratch_halves(room, s->from.pieces * s->from.distance);
    s->offsets = (int64_t *)scratch_take(room, 2 * max64(1, l->taps));
}

/* Copies what the output rows of one group of a unit read. */
static void copy_group(const tiled_sweep *s, int64_t unit, int64_t slot, int64_t member)
{
    const cell_layout *l = &s->cells;
    const int64_t group = unit / s->blocks * s->unit_groups + member, p = unit % s->blocks * s->rows;
    uint16_t *copy = s->copies + slot * s->unit_halves + member * s->group_halves;
    for (int64_t i = 0; group < l->groups && i < cell_rows(l, s->rows); i++)
        cells_copy(l, &s->from, group, p * cell_stride(l) + i, copy + i * l->row);
}

/* Chunk (unit, group). */
static void copy_chunk(void *arg, int64_t chunk)
{
    const tiled_sweep *s = arg;
    const int64_t slot = chunk / s->unit_groups;
    copy_group(s, s->first + slot, slot, chunk % s->unit_groups);
}

/* One tile of output pixels: row p of the image of a group, from pixel * group + image = first on. */
typedef struct {
    int64_t group, p, first;
    const uint16_t *a;
} pixel_tile;

static pixel_tile tile_at(const tiled_sweep *s, int64_t unit, int64_t slot, int64_t i)
{
    const cell_layout *l = &s->cells;
    const int64_t of_row = ceil_div(l->g.q * l->group, TILE), row = i / of_row;
    const int64_t member = row / s->rows, p = row % s->rows;
    pixel_tile t = {.group = unit / s->blocks * s->unit_groups + member,
                    .p = unit % s->blocks * s->rows + p,
                    .first = i % of_row * TILE};
    t.a =
        s->copies + slot * s->unit_halves + member * s->group_halves + p * cell_stride(l) * l->row + t.first * l->depth;
    return t;
}

/* Channels [k, k + n) of a pixel, elements of out from `at` on, from its sums; n is at most VL. */
INLINE void finish_some(const tiled_sweep *s, gr_type type, const float *sums, int64_t at, int64_t k, int64_t n)
{
    vec v = vec_load(sums);
    if (s->bias)
        v += vec_load_n(s->bias + k, n);
    if (s->accumulate)
        v += load_as_n(type, s->out, at, n);
    store_as_n(type, s->out, at, s->relu ? vec_relu(v) : v, n);
}

INLINE void finish(const tiled_sweep *s, gr_type type, const float *sums, int64_t at, int64_t k, int64_t n)
{
    UNROLL
    for (int64_t j = 0; j < BLOCK; j += VL)
        if (n >= j + VL)
            finish_some(s, type, sums + j, at + j, k + j, VL);
        else if (n > j)
            finish_some(s, type, sums + j, at + j, k + j, n - j);
}

INLINE void store_as_type(const tiled_sweep *s, gr_type type, const pixel_tile *t, const float *sums, int64_t panel)
{
    const cell_layout *l = &s->cells;
    const int64_t k = panel * BLOCK, channels = min64(BLOCK, s->channels - k), places = l->g.q * l->group;
    if (t->group >= l->groups || t->p >= l->g.p)
        return;
    for (int64_t i = 0; i < TILE && t->first + i < places; i++) {
        const int64_t q = (t->first + i) / l->group, n = t->group * l->group + (t->first + i) % l->group;
        if (n < l->g.n)
            finish(s, type, sums + i * BLOCK, n * s->out_image + t->p * s->out_row + q * s->out_pixel + k, k, channels);
    }
}

static void store_tile(const tiled_sweep *s, const pixel_tile *t, const float *sums, int64_t panel)
{
    if (s->type == GR_F32)
        store_as_type(s, GR_F32, t, sums, panel);
    else
        store_as_type(s, GR_BF16, t, sums, panel);
}

/* All pixels of a unit with one panel of filters. */
static void run_panel(const tiled_sweep *s, int64_t unit, int64_t slot, int64_t panel)
{
    const cell_layout *l = &s->cells;
    const int64_t steps = l->depth / STEP;
    const int64_t tiles = s->unit_groups * s->rows * ceil_div(l->g.q * l->group, TILE);
    float sums[BLOCK * BLOCK] __attribute__((aligned(64)));
    tile_product product = {.a_row = l->depth,
                            .a_step = STEP,
                            .offsets = s->offsets,
                            .taps = l->taps,
                            .steps = steps,
                            .b = s->w + panel * l->taps * steps * B_STEP,
                            .pieces = s->from.pieces,
                            .a_piece = s->from.distance,
                            .b_piece = s->panels * l->taps * steps * B_STEP,
                            .c = sums,
                            .c_row = BLOCK};
    for (int64_t i = 0; i < tiles; i += 2) {
        const pixel_tile upper = tile_at(s, unit, slot, i), lower = tile_at(s, unit, slot, i + 1);
        product.a[0] = upper.a;
        product.a[1] = i + 1 < tiles ? lower.a : NULL;
        product.passing = i > 0; /* the first time filters are to stay in the second-level cache */
        tile_product_run(&product);
        store_tile(s, &upper, sums, panel);
        if (product.a[1])
            store_tile(s, &lower, sums + TILE * BLOCK, panel);
    }
}

/* Chunk (unit, share of the panels). */
static void share_chunk(void *arg, int64_t chunk)
{
    const tiled_sweep *s = arg;
    const int64_t slot = chunk / s->splits;
    const span panels = part_of(s->panels, chunk % s->splits, s->splits);
    tiles_begin();
    for (int64_t panel = panels.begin; panel < panels.end; panel++)
        run_panel(s, s->first + slot, slot, panel);
    tiles_end();
}

static void run_shares(const gr_exec *exec, tiled_sweep *s)
{
    for (s->first = 0; s->first < s->units; s->first += s->at_once) {
        const int64_t held = min64(s->at_once, s->units - s->first);
        gr_parallel_for(exec, held * s->unit_groups, copy_chunk, s);
        gr_parallel_for(exec, held * s->splits, share_chunk, s);
    }
}

/* Chunk: some units from beginning to end, one after the other in the same place. */
static void lane_chunk(void *arg, int64_t lane)
{
    const tiled_sweep *s = arg;
    const span units = part_of(s->units, lane, s->at_once);
    tiles_begin();
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        for (int64_t member = 0; member < s->unit_groups; member++)
            copy_group(s, unit, lane, member);
        for (int64_t panel = 0; panel < s->panels; panel++)
            run_panel(s, unit, lane, panel);
    }
    tiles_end();
}

void tiled_sweep_run(const gr_exec *exec, tiled_sweep *s)
{
    const cell_layout *l = &s->cells;
    for (int64_t tap = 0; tap < l->taps; tap++) {
        const int64_t r = tap / l->g.s, column = tap % l->g.s; /* of windows there is but tap 0 */
        s->offsets[tap] = r * l->row + (column % l->phases * l->cells + column / l->phases) * l->group * l->depth;
    }
    if (s->splits == 1)
        gr_parallel_for(exec, s->at_once, lane_chunk, s);
    else
        run_shares(exec, s);
}
