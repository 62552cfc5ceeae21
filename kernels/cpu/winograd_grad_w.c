/*
 * winograd_grad_w.c - dW and db of 3x3 convolutions by F(4x4, 3x3).
 *
 * A share of the tiles at a time is transformed into scratch; then each place's product over these tiles is added to
 * its sums. Every sum is one chunk's, so the order of the additions is that of the tiles.
 */
#include "kernels/cpu/tile.h"
#include "kernels/cpu/winograd.h"

enum {
    HELD_BYTES = 512 << 10, /* of transformed tiles: what the second-level caches hold, */
    HELD_TILES = 128,       /* but so many that the sums are not read and written too often */
    SHARE = 8               /* tiles that a chunk transforms */
};

void winograd_grad_w_plan(winograd_grad_w *f, scratch *room)
{
    const gr_geometry *g = &f->g;
    f->panels = ceil_div(f->k, PANEL);
    f->parts = ceil_div(g->c, TILE_ROWS);
    f->tiles = winograd_tiles_of(g->n, g->p, g->q);
    const int64_t floats = PLACES * (f->parts * TILE_ROWS + f->panels * PANEL);
    f->at_once = min64(f->tiles.count, max64(HELD_TILES, HELD_BYTES / (int64_t)sizeof(float) / floats));
    f->inputs = scratch_take(room, PLACES * f->parts * f->at_once * TILE_ROWS);
    f->outputs = scratch_take(room, (PLACES + 1) * f->panels * f->at_once * PANEL);
    f->sums = scratch_take(room, PLACES * f->panels * g->c * PANEL);
}

static span part_channels(const winograd_grad_w *f, int64_t part)
{
    return part_of(f->g.c, part, f->parts);
}

/*
 * A' dz A of the pixels of a tile, channels [k, k + width), and behind its places their sum; z[place] every `step`
 * floats, zeros behind width.
 */
INLINE void transform_output(const winograd_window *w, int64_t k, int64_t width, float *z, int64_t step)
{
    vec e[ALONG][ALONG], sum = {0}; /* [column][place] */
    UNROLL
    for (int j = 0; j < SIDE; j++) {
        vec d[ALONG];
        UNROLL
        for (int i = 0; i < SIDE; i++) {
            d[i] = winograd_pixel(w, i, j, k, width, false);
            sum += d[i];
        }
        results_to_places(d, e[j]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        vec d[ALONG], row[ALONG];
        UNROLL
        for (int j = 0; j < SIDE; j++)
            d[j] = e[j][i];
        results_to_places(d, row);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            vec_store(z + (ALONG * i + j) * step, row[j]);
    }
    vec_store(z + PLACES * step, sum);
}

/* Chunk: SHARE tiles of those held. */
static void transform_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t in_step = f->parts * f->at_once * TILE_ROWS, out_step = f->panels * f->at_once * PANEL;
    for (int64_t i = chunk * SHARE; i < min64(f->held, (chunk + 1) * SHARE); i++) {
        winograd_at at = winograd_tile(&f->tiles, f->first + i);
        const winograd_window dz = winograd_window_of(&f->dz, at, SIDE);
        for (int64_t k = 0; k < f->panels * PANEL; k += VL) {
            float *z = f->outputs + (k / PANEL * f->at_once + i) * PANEL + k % PANEL;
            if (k < f->k)
                transform_output(&dz, k, min64(VL, f->k - k), z, out_step);
            for (int64_t place = 0; k >= f->k && place <= PLACES; place++)
                vec_store(z + place * out_step, (vec){0});
        }
        at.row -= f->g.pad_top;
        at.col -= f->g.pad_left;
        const winograd_window x = winograd_window_of(&f->x, at, ALONG);
        for (int64_t part = 0; part < f->parts; part++)
            winograd_inputs(&x, part_channels(f, part), f->inputs + (part * f->at_once + i) * TILE_ROWS, in_step);
    }
}

/* Chunk (place, panel): adds the held tiles' products to its sums [C][PANEL]. */
static void sum_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t place = chunk / f->panels;
    float *sums = f->sums + chunk * f->g.c * PANEL;
    for (int64_t part = 0; part < f->parts; part++) {
        const span c = part_channels(f, part);
        const tile t = {.a = f->inputs + (place * f->parts + part) * f->at_once * TILE_ROWS,
                        .a_row = 1,
                        .a_step = TILE_ROWS,
                        .b = f->outputs + chunk * f->at_once * PANEL,
                        .b_step = PANEL,
                        .depth = f->held,
                        .segments = 1,
                        .c = sums + c.begin * PANEL,
                        .c_row = PANEL,
                        .width = PANEL,
                        .alpha = 1,
                        .accumulate = f->first > 0};
        tile_rows(&t, c.end - c.begin);
    }
}

/* Chunk: panel of db. The sum of a tile's dz stands behind the places. */
static void bias_chunk(void *arg, int64_t panel)
{
    const winograd_grad_w *f = arg;
    float *sums = f->db + panel * PANEL;
    if (f->first == 0)
        memset(sums, 0, PANEL * sizeof *sums);
    conv_add_rows(f->outputs + (PLACES * f->panels + panel) * f->at_once * PANEL, f->held, sums);
}

/* G' m G for one channel of a panel of filters: sums[place] every `place` floats, dw[tap] every `step` floats. */
INLINE void transform_sums(const float *sums, int64_t place, float *dw, int64_t step)
{
    vec e[ALONG][3]; /* [column][row of taps] */
    UNROLL
    for (int j = 0; j < ALONG; j++) {
        vec u[ALONG];
        UNROLL
        for (int i = 0; i < ALONG; i++)
            u[i] = vec_load(sums + (ALONG * i + j) * place);
        places_to_taps(u, e[j]);
    }
    UNROLL
    for (int i = 0; i < 3; i++) {
        vec u[ALONG], taps[3];
        UNROLL
        for (int j = 0; j < ALONG; j++)
            u[j] = e[j][i];
        places_to_taps(u, taps);
        UNROLL
        for (int j = 0; j < 3; j++)
            vec_store(dw + (3 * i + j) * step, taps[j]);
    }
}

/* Chunk (panel, channel of x): the nine taps of its filters. */
static void finish_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t C = f->g.c, panel = chunk / C, c = chunk % C;
    for (int64_t k = 0; k < PANEL; k += VL)
        transform_sums(f->sums + chunk * PANEL + k, f->panels * C * PANEL, f->dw + (panel * 9 * C + c) * PANEL + k,
                       C * PANEL);
}

void winograd_grad_w_run(const gr_exec *exec, winograd_grad_w *f)
{
    for (f->first = 0; f->first < f->tiles.count; f->first += f->at_once) {
        f->held = min64(f->at_once, f->tiles.count - f->first);
        gr_parallel_for(exec, ceil_div(f->held, SHARE), transform_chunk, f);
        if (f->dw)
            gr_parallel_for(exec, PLACES * f->panels, sum_chunk, f);
        if (f->db)
            gr_parallel_for(exec, f->panels, bias_chunk, f);
    }
    if (f->dw)
        gr_parallel_for(exec, f->panels * f->g.c, finish_chunk, f);
}
