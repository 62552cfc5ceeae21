/*
 * winograd_grad_w.c - dW and db of 3x3 convolutions by F(4x4, 3x3).
 *
 * Some tiles of each group at a time are transformed into scratch; then each place's product over these tiles is added
 * to the group's sums. Every sum is one chunk's, so the order of the additions is that of the tiles. Sums are four
 * times as large as dW: where all tiles fit, those of some channels become dW while they lie in the second-level cache.
 * dW is turned from panels to filters on the way out.
 */
#include "kernels/cpu/tile.h"
#include "kernels/cpu/winograd_reads.h"

enum {
    FEW_TILES = 10,   /* below which the bound of dW in winograd.h does not hold: it grows with their root */
    HELD_TILES = 128, /* in scratch: so many that the sums are not read and written too often */
    GROUPS = 2,       /* of tiles, where there are more, */
    SUMS = 1 << 20,   /* and no more floats of sums: those of both shall lie in a last-level cache */
    SHARE = 8,        /* tiles that a chunk transforms */
    CHANNELS = 64,    /* of x, whose sums become dW at once: in runs of four cache lines, see transpose.c */
    PLACE_FLOATS = CHANNELS * PANEL + WINOGRAD_APART /* floats from place to place of these */
};

bool winograd_grad_w_fits(const gr_call *call, const gr_geometry *g)
{
    return winograd_fits(call, g) && winograd_tiles_of(g->n, g->p, g->q).count >= FEW_TILES;
}

void winograd_grad_w_plan(winograd_grad_w *f, scratch *room)
{
    const gr_geometry *g = &f->g;
    f->panels = ceil_div(f->dw.k, PANEL);
    f->tiles = winograd_tiles_of(g->n, g->p, g->q);
    const int64_t sums = PLACES * f->panels * g->c * PANEL;
    f->groups = f->tiles.count > HELD_TILES && sums <= SUMS ? GROUPS : 1;
    f->at_once = min64(f->tiles.count, HELD_TILES / f->groups);
    f->in_pitch = g->c + WINOGRAD_APART;
    f->in_place = f->at_once * f->in_pitch + WINOGRAD_APART;
    f->out_place = f->panels * f->at_once * PANEL + WINOGRAD_APART;
    f->inputs = scratch_take(room, f->groups * PLACES * f->in_place);
    f->outputs = scratch_take(room, f->groups * (PLACES + 1) * f->out_place);
    f->sums = scratch_take(room, f->tiles.count > f->at_once ? f->groups * sums : 0);
}

/* Those of a group's tiles that are in scratch now: none where it has one less than the other. */
static span held(const winograd_grad_w *f, int64_t group)
{
    const span tiles = part_of(f->tiles.count, group, f->groups);
    const int64_t begin = min64(tiles.end, tiles.begin + f->first);
    return (span){begin, min64(tiles.end, begin + f->at_once)};
}

/* --- dz and x ----------------------------------------------------------------------------------------------------- */

/*
 * A' dz A for the vectors of a tile's filters, zeros behind the last filter, and behind the places the sum of dz;
 * z[place][panel][tile][PANEL]. Asks for what the next tile reads.
 */
static void transform_outputs(const winograd_grad_w *f, const winograd_window *w, const winograd_window *next, float *z)
{
    float seen[SIDE * SIDE * VL] __attribute__((aligned(64))) = {0};
    for (int64_t k = 0; k < f->panels * PANEL; k += VL) {
        float *to = z + k / PANEL * f->at_once * PANEL + k % PANEL;
        const int64_t width = max64(0, min64(VL, f->dw.k - k));
        vec_store(to + PLACES * f->out_place, winograd_output_at(w, next, k, width, seen, to, f->out_place));
    }
}

/* What a tile reads. */
typedef struct {
    winograd_window dz, x;
} tile_reads;

/* Behind the last tile it is the last. */
static tile_reads reads_of(const winograd_grad_w *f, int64_t i)
{
    const winograd_at at = winograd_tile(&f->tiles, min64(i, f->tiles.count - 1));
    const winograd_at in_x = {at.n, at.row - f->g.pad_top, at.col - f->g.pad_left};
    return (tile_reads){winograd_window_of(&f->dz, at, SIDE), winograd_window_of(&f->x, in_x, ALONG)};
}

/* Chunk (group, SHARE of its tiles held). */
static void transform_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t shares = ceil_div(f->at_once, SHARE), group = chunk / shares, first = chunk % shares * SHARE;
    const span tiles = held(f, group);
    float *inputs = f->inputs + group * PLACES * f->in_place,
          *outputs = f->outputs + group * (PLACES + 1) * f->out_place;
    tile_reads next = reads_of(f, tiles.begin + first);
    for (int64_t i = first; i < min64(tiles.end - tiles.begin, first + SHARE); i++) {
        const tile_reads now = next;
        next = reads_of(f, tiles.begin + i + 1);
        transform_outputs(f, &now.dz, &next.dz, outputs + i * PANEL);
        winograd_inputs(&now.x, &next.x, f->g.c, inputs + i * f->in_pitch, f->in_place);
    }
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* sums[channels][PANEL] (+)= the products of a group's tiles held at a place with a panel of filters. */
static void sum_place(const winograd_grad_w *f, int64_t group, int64_t place, int64_t panel, span channels, float *sums)
{
    const span tiles = held(f, group);
    const tile t = {.a = f->inputs + (group * PLACES + place) * f->in_place + channels.begin,
                    .a_row = 1,
                    .a_step = f->in_pitch,
                    .b = f->outputs + (group * (PLACES + 1) + place) * f->out_place + panel * f->at_once * PANEL,
                    .b_step = PANEL,
                    .depth = tiles.end - tiles.begin,
                    .segments = 1,
                    .c = sums,
                    .c_row = PANEL,
                    .width = PANEL,
                    .alpha = 1,
                    .accumulate = f->first > 0};
    tile_rows(&t, channels.end - channels.begin);
}

/* Chunk (group, place, panel): its sums over the tiles so far. */
static void sum_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t group = chunk / f->panels / PLACES, place = chunk / f->panels % PLACES;
    sum_place(f, group, place, chunk % f->panels, (span){0, f->g.c}, f->sums + chunk * f->g.c * PANEL);
}

/* Chunk: panel of db. The sum of a tile's dz stands behind the places. */
static void bias_chunk(void *arg, int64_t panel)
{
    const winograd_grad_w *f = arg;
    float *sums = f->db + panel * PANEL;
    if (f->first == 0)
        memset(sums, 0, PANEL * sizeof *sums);
    for (int64_t group = 0; group < f->groups; group++) {
        const span tiles = held(f, group);
        const float *z = f->outputs + (group * (PLACES + 1) + PLACES) * f->out_place;
        conv_add_rows(z + panel * f->at_once * PANEL, tiles.end - tiles.begin, sums);
    }
}

/* --- dW ----------------------------------------------------------------------------------------------------------- */

/*
 * G' m G for one channel of a panel of filters: sums[place] every `place` floats, dw[tap] every `step` floats. m is the
 * sums, or with a second group's, `second` floats behind them, both together.
 */
INLINE void transform_sums(const float *sums, int64_t place, int64_t second, float *dw, int64_t step)
{
    vec e[ALONG][3]; /* [column][row of taps] */
    UNROLL
    for (int j = 0; j < ALONG; j++) {
        vec u[ALONG];
        UNROLL
        for (int i = 0; i < ALONG; i++) {
            const float *at = sums + (ALONG * i + j) * place;
            u[i] = second ? vec_load(at) + vec_load(at + second) : vec_load(at);
        }
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

/*
 * dW of a panel of filters at up to CHANNELS of x, from their sums[place][channel][PANEL] and those of a second group,
 * `second` floats behind them; 0: there is none.
 */
static void finish(const winograd_grad_w *f, int64_t panel, span channels, const float *sums, int64_t place,
                   int64_t second)
{
    float taps[9][CHANNELS][PANEL] __attribute__((aligned(64)));
    const int64_t count = channels.end - channels.begin;
    for (int64_t i = 0; i < count * PANEL; i += VL)
        if (second)
            transform_sums(sums + i, place, second, taps[0][0] + i, CHANNELS * PANEL);
        else /* nearly always: a constant spares 36 questions */
            transform_sums(sums + i, place, 0, taps[0][0] + i, CHANNELS * PANEL);
    for (int64_t tap = 0; tap < 9; tap++)
        conv_give(&f->dw, panel, tap * f->g.c + channels.begin, count, taps[tap][0]);
}

/* Chunk (panel, CHANNELS of x): its part of dW from the groups' sums. */
static void finish_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    const int64_t C = f->g.c, blocks = ceil_div(C, CHANNELS), panel = chunk / blocks, c = chunk % blocks * CHANNELS;
    const int64_t place = f->panels * C * PANEL;
    finish(f, panel, (span){c, min64(C, c + CHANNELS)}, f->sums + (panel * C + c) * PANEL, place,
           f->groups == GROUPS ? PLACES * place : 0);
}

/* Chunk (panel, CHANNELS of x): its part of dW, all tiles being held. */
static void whole_chunk(void *arg, int64_t chunk)
{
    const winograd_grad_w *f = arg;
    float sums[PLACES * PLACE_FLOATS] __attribute__((aligned(64)));
    const int64_t blocks = ceil_div(f->g.c, CHANNELS), panel = chunk / blocks, first = chunk % blocks * CHANNELS;
    const span channels = {first, min64(f->g.c, first + CHANNELS)};
    for (int64_t place = 0; place < PLACES; place++)
        sum_place(f, 0, place, panel, channels, sums + place * PLACE_FLOATS);
    finish(f, panel, channels, sums, PLACE_FLOATS, 0);
}

void winograd_grad_w_run(const gr_exec *exec, winograd_grad_w *f)
{
    const bool all = f->tiles.count == f->at_once;
    for (f->first = 0; f->first < ceil_div(f->tiles.count, f->groups); f->first += f->at_once) {
        gr_parallel_for(exec, f->groups * ceil_div(f->at_once, SHARE), transform_chunk, f);
        if (f->dw.dw && all)
            gr_parallel_for(exec, f->panels * ceil_div(f->g.c, CHANNELS), whole_chunk, f);
        else if (f->dw.dw)
            gr_parallel_for(exec, f->groups * PLACES * f->panels, sum_chunk, f);
        if (f->db)
            gr_parallel_for(exec, f->panels, bias_chunk, f);
    }
    if (f->dw.dw && !all)
        gr_parallel_for(exec, f->panels * ceil_div(f->g.c, CHANNELS), finish_chunk, f);
}
