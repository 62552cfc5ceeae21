/*
 * winograd_grad_w.c - dW and db of 3x3 convolutions by F(4x4, 3x3).
 *
 * A share of the tiles at a time is transformed into scratch; then each place's product over these tiles is added to
 * its sums. Every sum is one chunk's, so the order of the additions is that of the tiles. Sums are four times as large
 * as dW: where all tiles are one share, those of some channels become dW while they lie in the second-level cache.
 */
#include "kernels/cpu/tile.h"
#include "kernels/cpu/winograd.h"

enum {
    FEW_TILES = 10,   /* below which the bound of dW in winograd.h does not hold: it grows with their root */
    HELD_TILES = 128, /* in scratch: so many that the sums are not read and written too often */
    SHARE = 8,        /* tiles that a chunk transforms */
    CHANNELS = 64,    /* of x, whose sums become dW at once */
    SUMS_PLACE = CHANNELS * PANEL + WINOGRAD_APART /* floats from place to place of these */
};

bool winograd_grad_w_fits(const gr_call *call, const gr_geometry *g)
{
    return winograd_fits(call, g) && winograd_tiles_of(g->n, g->p, g->q).count >= FEW_TILES;
}

void winograd_grad_w_plan(winograd_grad_w *f, scratch *room)
{
    const gr_geometry *g = &f->g;
    f->panels = ceil_div(f->k, PANEL);
    f->tiles = winograd_tiles_of(g->n, g->p, g->q);
    f->in_pitch = g->c + WINOGRAD_APART;
    f->at_once = min64(f->tiles.count, HELD_TILES);
    f->in_place = f->at_once * f->in_pitch + WINOGRAD_APART;
    f->out_place = f->panels * f->at_once * PANEL + WINOGRAD_APART;
    f->inputs = scratch_take(room, PLACES * f->in_place);
    f->outputs = scratch_take(room, (PLACES + 1) * f->out_place);
    f->sums = scratch_take(room, f->tiles.count > f->at_once ? PLACES * f->panels * g->c * PANEL : 0);
}

/*
 * A' dz A of a tile's pixels dz[4][4], at distances of row and pixel floats, and behind its places their sum; z[place]
 * every `step` floats.
 */
INLINE void transform_output(const float *dz, int64_t row, int64_t pixel, float *z, int64_t step)
{
    vec e[ALONG][ALONG], sum = {0}; /* [column][place] */
    UNROLL
    for (int j = 0; j < SIDE; j++) {
        vec d[SIDE];
        UNROLL
        for (int i = 0; i < SIDE; i++) {
            d[i] = vec_load(dz + i * row + j * pixel);
            sum += d[i];
        }
        results_to_places(d, e[j]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        vec d[SIDE], places[ALONG];
        UNROLL
        for (int j = 0; j < SIDE; j++)
            d[j] = e[j][i];
        results_to_places(d, places);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            vec_store(z + (ALONG * i + j) * step, places[j]);
    }
    vec_store(z + PLACES * step, sum);
}

/*
 * The same for the vectors of a tile's filters, zeros behind the last filter; z[place][panel][tile][PANEL]. Asks for
 * those of the next.
 */
static void transform_outputs(const winograd_grad_w *f, const winograd_window *w, const winograd_window *next, float *z)
{
    float seen[SIDE * SIDE * VL] __attribute__((aligned(64))) = {0};
    for (int64_t k = 0; k < f->panels * PANEL; k += VL) {
        float *to = z + k / PANEL * f->at_once * PANEL + k % PANEL;
        const int64_t width = max64(0, min64(VL, f->k - k));
        winograd_ask(next, SIDE, k);
        if (winograd_direct(w) && width == VL) {
            transform_output(w->dy + w->first + k, w->row, w->pixel, to, f->out_place);
            continue;
        }
        winograd_gather(w, SIDE, k, width, seen);
        transform_output(seen, SIDE * VL, VL, to, f->out_place);
    }
}

/* What a tile reads. */
typedef struct {
    winograd_window dz, x;
} tile_reads;

/* Of tile i of those held; behind the last of all it is the last. */
static tile_reads reads_of(const winograd_grad_w *f, int64_t i)
{
    const winograd_at at = winograd_tile(&f->tiles, min64(f->first + i, f->tiles.count - 1));
    const winograd_at in_x = {at.n, at.row - f->g.pad_top, at.col - f->g.pad_left};
    return (tile_reads){winograd_window_of(&f->dz, at, SIDE), winograd_window_of(&f->x, in_x, ALONG)};
}

/* Chunk: SHARE tiles of those held. */
static void transform_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    tile_reads next = reads_of(f, chunk * SHARE);
    for (int64_t i = chunk * SHARE; i < min64(f->held, (chunk + 1) * SHARE); i++) {
        const tile_reads now = next;
        next = reads_of(f, i + 1);
        transform_outputs(f, &now.dz, &next.dz, f->outputs + i * PANEL);
        winograd_inputs(&now.x, &next.x, f->g.c, f->inputs + i * f->in_pitch, f->in_place);
    }
}

/* sums[channels][PANEL] (+)= the held tiles' products at a place with a panel of filters. */
static void sum_place(const winograd_grad_w *f, int64_t place, int64_t panel, span channels, float *sums)
{
    const tile t = {.a = f->inputs + place * f->in_place + channels.begin,
                    .a_row = 1,
                    .a_step = f->in_pitch,
                    .b = f->outputs + place * f->out_place + panel * f->at_once * PANEL,
                    .b_step = PANEL,
                    .depth = f->held,
                    .segments = 1,
                    .c = sums,
                    .c_row = PANEL,
                    .width = PANEL,
                    .alpha = 1,
                    .accumulate = f->first > 0};
    tile_rows(&t, channels.end - channels.begin);
}

/* Chunk (place, panel): its sums over the tiles so far. */
static void sum_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    sum_place(f, chunk / f->panels, chunk % f->panels, (span){0, f->g.c}, f->sums + chunk * f->g.c * PANEL);
}

/* Chunk: panel of db. The sum of a tile's dz stands behind the places. */
static void bias_chunk(void *arg, int64_t panel)
{
    const winograd_grad_w *f = arg;
    float *sums = f->db + panel * PANEL;
    if (f->first == 0)
        memset(sums, 0, PANEL * sizeof *sums);
    conv_add_rows(f->outputs + PLACES * f->out_place + panel * f->at_once * PANEL, f->held, sums);
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

/* The nine taps of a panel of filters at channel c of x, from their sums. */
static void finish(const winograd_grad_w *f, int64_t panel, int64_t c, const float *sums, int64_t place)
{
    for (int64_t k = 0; k < PANEL; k += VL)
        transform_sums(sums + k, place, f->dw + (panel * 9 * f->g.c + c) * PANEL + k, f->g.c * PANEL);
}

/* Chunk (panel, channel of x). */
static void finish_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t C = f->g.c;
    finish(f, chunk / C, chunk % C, f->sums + chunk * PANEL, f->panels * C * PANEL);
}

/* Chunk (panel, CHANNELS of x): its part of dW from all tiles. */
static void whole_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    float sums[PLACES * SUMS_PLACE] __attribute__((aligned(64)));
    const int64_t blocks = ceil_div(f->g.c, CHANNELS), panel = chunk / blocks, first = chunk % blocks * CHANNELS;
    const span channels = {first, min64(f->g.c, first + CHANNELS)};
    for (int64_t place = 0; place < PLACES; place++)
        sum_place(f, place, panel, channels, sums + place * SUMS_PLACE);
    for (int64_t c = channels.begin; c < channels.end; c++)
        finish(f, panel, c, sums + (c - first) * PANEL, SUMS_PLACE);
}

void winograd_grad_w_run(const gr_exec *exec, winograd_grad_w *f)
{
    const bool at_once = f->tiles.count == f->at_once;
    for (f->first = 0; f->first < f->tiles.count; f->first += f->at_once) {
        f->held = min64(f->at_once, f->tiles.count - f->first);
        gr_parallel_for(exec, ceil_div(f->held, SHARE), transform_chunk, f);
        if (f->dw && at_once)
            gr_parallel_for(exec, f->panels * ceil_div(f->g.c, CHANNELS), whole_chunk, f);
        else if (f->dw)
            gr_parallel_for(exec, PLACES * f->panels, sum_chunk, f);
        if (f->db)
            gr_parallel_for(exec, f->panels, bias_chunk, f);
    }
    if (f->dw && !at_once)
        gr_parallel_for(exec, f->panels * f->g.c, finish_chunk, f);
}
