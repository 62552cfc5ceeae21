/*
 * winograd.c - 3x3 convolutions by F(4x4, 3x3): forward and dX.
 *
 * Filters are transformed to four times their size. Where there are many blocks of tiles, that is done once; a chunk
 * transforms the tiles of a block and multiplies them with all filters: these tiles stay in the second-level cache.
 * Where there are many filters or a block of tiles is all there is - deep layers of small images - they would be
 * written, and read from far away, for few products: there a chunk is a panel of filters, which it transforms some
 * channels at a time, and multiplies with some blocks of tiles while they lie in that cache. Between the two, filters
 * are transformed once and tiles together, and a chunk is a block and a share of the panels.
 */
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/conv_pooled.h"
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/tile.h"
#include "kernels/cpu/winograd_reads.h"
#include "kernels/cpu/winograd_results.h"

enum {
    FEW = 16,        /* channels below which the sums around the products cost more than the products saved */
    SMALLEST = 4,    /* pixels of a side; below, direct convolution leaves out as many products: those with padding */
    FEW_PIXELS = 64, /* of the batch: below, the filters' own transformation costs more than is saved */
    TRANSFORMED = 4 * VL,                              /* channels of depth of a panel of filters, at a time */
    FILTERS_AHEAD = 4,                                 /* from those turned round to those asked for */
    USED_PLACE = TRANSFORMED * PANEL + WINOGRAD_APART, /* floats from place to place of these */
    SHARE = 8,                                         /* tiles that a chunk transforms */
    BLOCK = 28 / TILE_ROWS * TILE_ROWS, /* tiles whose products with a panel of filters lie in the second-level cache */
    FRESH_PANELS = 8,                   /* of filters: enough for a chunk each */
    HELD_BLOCKS = 5,                    /* transformed together: so many that filters are not read too often */
    MANY_BLOCKS = 8,                    /* enough for a chunk each, if their transformed tiles */
    MANY_DEPTH = 128                    /* have no more channels: then these lie in the second-level cache, too */
};

/*
 * Results beyond the second pixel of a border see none of the image: their sums would be what rounding leaves of 0.
 */
static bool sees_the_image(int64_t pad, int64_t result, int64_t size)
{
    return pad <= 2 && result - pad <= size;
}

/* Whether 3x3 filters of an image are worth it and see the image from each of p x q results. */
static bool is_worth_it(const gr_geometry *g, int64_t k, int64_t p, int64_t q)
{
    return g->r == 3 && g->s == 3 && g->stride_h == 1 && g->stride_w == 1 && min64(g->c, k) >= FEW &&
           min64(p, q) >= SMALLEST && g->n * p * q >= FEW_PIXELS && sees_the_image(g->pad_top, p, g->h) &&
           sees_the_image(g->pad_left, q, g->w);
}

bool winograd_fits(const gr_call *call, const gr_geometry *g)
{
    const bool pooled = call->n_out > 1; /* its dz is not read tile by tile */
    return !pooled && is_worth_it(g, call->in[1]->shape[0], g->p, g->q);
}

bool winograd_pooled_fits(const gr_call *call, const gr_geometry *g, const gr_geometry *pool)
{
    return conv_pooled(g, pool) && is_worth_it(g, call->in[1]->shape[0], 2 * pool->p, 2 * pool->q);
}

bool winograd_grad_x_transposed(const gr_geometry *g)
{
    return winograd_tiles_of(1, g->p, g->q).count == 1 && winograd_tiles_of(1, g->h, g->w).count > 1;
}

/*
 * Without padding dX is larger than dz. The tiles that cover it then need as many products as the pixels of dz times
 * the taps, or hardly fewer, where conv_small.h computes no others.
 */
bool winograd_grad_x_fits(const gr_call *call, const gr_geometry *g)
{
    const int64_t tiles = winograd_grad_x_transposed(g) ? 1 : winograd_tiles_of(1, g->h, g->w).count;
    const bool no_others = conv_is_small(g, call->in[1]->shape[0]);
    return winograd_fits(call, g) && (!no_others || PLACES * tiles < 9 * g->p * g->q);
}

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* G w G' of nine vectors: w[tap] every `tap` floats; u[place] every `step` floats. */
INLINE void transform_filter(const float *w, int64_t tap, bool turned, int64_t width, float *u, int64_t step)
{
    vec e[3][ALONG]; /* [column][place] */
    UNROLL
    for (int s = 0; s < 3; s++) {
        vec g[3];
        UNROLL
        for (int r = 0; r < 3; r++)
            g[r] = vec_load_n(w + (turned ? 8 - (3 * r + s) : 3 * r + s) * tap, width);
        taps_to_places(g, e[s]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        const vec g[3] = {e[0][i], e[1][i], e[2][i]};
        vec row[ALONG];
        taps_to_places(g, row);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            vec_store(u + (ALONG * i + j) * step, row[j]);
    }
}

/* For y: transposed tap by tap, so that filters lie side by side. */
static void transform_for_y(const winograd_sweep *s, int64_t panel, span depth, float *u, int64_t step)
{
    const int64_t filters = min64(PANEL, s->channels - panel * PANEL), count = depth.end - depth.begin;
    float g[9][TRANSFORMED][PANEL] __attribute__((aligned(64)));
    if (filters < PANEL)
        memset(g, 0, sizeof g);
    for (int64_t tap = 0; tap < 9; tap++)
        transpose(s->filters + (panel * PANEL * 9 + tap) * s->depth + depth.begin, 9 * s->depth, filters, count,
                  g[tap][0], PANEL);
    for (int64_t i = 0; i < count * PANEL; i += VL)
        transform_filter(g[0][0] + i, TRANSFORMED * PANEL, false, VL, u + i, step);
}

/* For dX: depth runs over filters. */
static void transform_for_dx(const winograd_sweep *s, int64_t panel, span depth, float *u, int64_t step)
{
    for (int64_t k = depth.begin; k < depth.end; k++)
        for (int64_t c = panel * PANEL; c < (panel + 1) * PANEL; c += VL, u += VL) {
            const int64_t width = min64(VL, s->channels - c);
            for (int64_t tap = 0; tap < 9; tap++) /* pieces far apart, which the processor does not foresee */
                prefetch(s->filters + ((k + FILTERS_AHEAD) * 9 + tap) * s->channels + c);
            const float *w = s->filters + k * 9 * s->channels + c;
            if (width > 0 && s->transposed)
                transform_filter(w, s->channels, false, width, u, step);
            else if (width > 0)
                transform_filter(w, s->channels, true, width, u, step);
            for (int64_t place = 0; width <= 0 && place < PLACES; place++)
                vec_store(u + place * step, (vec){0});
        }
}

/* A panel of filters at up to TRANSFORMED channels of depth, to u[depth][PANEL] for each place, `step` floats apart. */
static void transform_filters(const winograd_sweep *s, int64_t panel, span depth, float *u, int64_t step)
{
    (s->for_dx ? transform_for_dx : transform_for_y)(s, panel, depth, u, step);
}

/* Chunk (panel, some channels of depth). */
static void filter_chunk(void *arg, int64_t chunk)
{
    const winograd_sweep *s = arg;
    const int64_t blocks = ceil_div(s->depth, TRANSFORMED), panel = chunk / blocks;
    const int64_t first = chunk % blocks * TRANSFORMED;
    transform_filters(s, panel, (span){first, min64(s->depth, first + TRANSFORMED)},
                      s->w + panel * PLACES * s->w_pitch + first * PANEL, s->w_pitch);
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

void winograd_sweep_plan(winograd_sweep *s, scratch *room)
{
    s->tiles = s->transposed ? winograd_tiles_of(s->n, s->from.p, s->from.q) : winograd_tiles_of(s->n, s->p, s->q);
    s->reads = s->transposed ? SIDE : ALONG;
    s->writes = s->transposed ? ALONG : SIDE;
    s->stream = !s->pooled && !s->accumulate && goes_past_caches(s->out, s->n * s->p * s->q * s->channels, s->channels);
    const int64_t panels = ceil_div(s->channels, PANEL);
    s->in_pitch = s->depth + WINOGRAD_APART;
    s->w_pitch = s->depth * PANEL + WINOGRAD_APART;
    s->many = s->tiles.count > (MANY_BLOCKS - 1) * BLOCK && s->depth <= MANY_DEPTH;
    s->fresh = !s->many && (s->tiles.count <= BLOCK || panels >= FRESH_PANELS);
    s->at_once = s->many ? BLOCK : min64(s->tiles.count, HELD_BLOCKS * BLOCK);
    s->in_place = s->at_once * s->in_pitch + WINOGRAD_APART;
    s->w = scratch_take(room, s->fresh ? 0 : panels * PLACES * s->w_pitch);
    s->inputs = scratch_take(room, s->many ? 0 : PLACES * s->in_place);
}

/* What tile i of those held reads; behind the last of all it is the last. */
static winograd_window window_of(const winograd_sweep *s, int64_t i)
{
    winograd_at at = winograd_tile(&s->tiles, min64(s->first + i, s->tiles.count - 1));
    at.row -= s->pad_top;
    at.col -= s->pad_left;
    return winograd_window_of(&s->from, at, s->reads);
}

/* Some of the tiles held. */
static void transform_tiles(const winograd_sweep *s, span tiles)
{
    winograd_window next = window_of(s, tiles.begin);
    for (int64_t i = tiles.begin; i < tiles.end; i++) {
        const winograd_window w = next;
        next = window_of(s, i + 1);
        if (s->transposed)
            winograd_outputs(&w, &next, s->depth, s->inputs + i * s->in_pitch, s->in_place);
        else
            winograd_inputs(&w, &next, s->depth, s->inputs + i * s->in_pitch, s->in_place);
    }
}

/* Chunk: SHARE tiles of those held. */
static void transform_chunk(void *arg, int64_t chunk)
{
    const winograd_sweep *s = arg;
    transform_tiles(s, (span){chunk * SHARE, min64(s->held, (chunk + 1) * SHARE)});
}

/*
 * Asks for what the tiles hold at a place, at some channels. Of several blocks of tiles it does not lie in the
 * second-level cache, and in pieces of fewer than four cache lines, far apart, the processor does not foresee it.
 * Inlined: GCC drops calls of functions that do nothing but ask.
 */
INLINE void ask_for_inputs(const winograd_sweep *s, span tiles, span depth, int64_t place)
{
    if (TRANSFORMED >= RUN * LINE || s->many || s->held <= BLOCK || place == PLACES)
        return;
    const float *input = s->inputs + place * s->in_place + tiles.begin * s->in_pitch;
    for (int64_t i = tiles.begin; i < tiles.end; i++, input += s->in_pitch)
        for (int64_t c = depth.begin; c < depth.end; c += LINE)
            prefetch_second(input + c);
}

/*
 * products[place][tile][PANEL] of some tiles with a panel of filters at some channels of depth, u[depth][PANEL] for
 * each place, `step` floats apart. They are added to those of the channels before. Each place is a chance to ask for
 * what comes next.
 */
static void multiply(const winograd_sweep *s, span tiles, int64_t panel, span depth, const float *u, int64_t step,
                     float *products, ahead *next)
{
    ahead_begin(next, PLACES);
    for (int64_t place = 0; place < PLACES; place++) {
        ahead_ask(next);
        ask_for_inputs(s, tiles, depth, place + 1);
        const tile t = {.a = s->inputs + place * s->in_place + tiles.begin * s->in_pitch + depth.begin,
                        .a_row = s->in_pitch,
                        .a_step = 1,
                        .b = u + place * step,
                        .b_step = PANEL,
                        .depth = depth.end - depth.begin,
                        .segments = 1,
                        .c = products + place * BLOCK * PANEL,
                        .c_row = PANEL,
                        .width = min64(PANEL, s->channels - panel * PANEL),
                        .alpha = 1,
                        .accumulate = depth.begin > 0};
        tile_rows(&t, tiles.end - tiles.begin);
    }
}

/* Channels [c, c + width) of a tile from its products. */
INLINE void write_some(const winograd_sweep *s, winograd_at at, int64_t c, int64_t width, const bool inside,
                       const float *products)
{
    if (s->pooled)
        winograd_write_windows(s, at, c, width, inside, products, BLOCK * PANEL);
    else if (s->transposed)
        winograd_write_image(s, at, c, width, inside, products, BLOCK * PANEL);
    else
        winograd_write_tile(s, at, c, width, inside, products, BLOCK * PANEL);
}

/* The same for channels [c, c + count) of a panel. */
static void write_channels(const winograd_sweep *s, winograd_at at, int64_t c, int64_t count, const float *products)
{
    at.row -= s->out_top;
    at.col -= s->out_left;
    const bool inside = at.row >= 0 && at.col >= 0 && at.row + s->writes <= s->p && at.col + s->writes <= s->q;
    for (int64_t k = 0; k < count; k += VL) {
        const int64_t width = min64(VL, count - k);
        if (inside && width == VL) /* nearly always: constants spare its 16 pixels as many questions */
            write_some(s, at, c + k, VL, true, products + k);
        else
            write_some(s, at, c + k, width, false, products + k);
    }
}

/* Results of some tiles, a panel of channels, from their products. */
static void write_panel(const winograd_sweep *s, span tiles, int64_t panel, const float *products)
{
    for (int64_t i = tiles.begin; i < tiles.end; i++)
        write_channels(s, winograd_tile(&s->tiles, s->first + i), panel * PANEL,
                       min64(PANEL, s->channels - panel * PANEL), products + (i - tiles.begin) * PANEL);
}

/*
 * Lists where results of some tiles go, a run of cache lines of each pixel for all panels that lie in it: lines that
 * were last used an update ago are read before they are written.
 */
static void list_results(const winograd_sweep *s, span tiles, int64_t panel, ahead *next)
{
    ahead_clear(next);
    if (s->stream || s->pooled || panel % (RUN * LINE / PANEL) != 0)
        return;
    for (int64_t i = tiles.begin; i < tiles.end; i++) {
        const winograd_at at = winograd_tile(&s->tiles, s->first + i);
        for (int64_t row = at.row; row < min64(s->p, at.row + s->writes); row++)
            ahead_add(next, s->out + ((at.n * s->p + row) * s->q + at.col) * s->channels + panel * PANEL,
                      min64(s->writes, s->q - at.col), min64(RUN * LINE, s->channels - panel * PANEL), s->channels);
    }
}

/* Results of some of the tiles held, a panel of channels, all filters being transformed. */
static void run_panel(const winograd_sweep *s, span tiles, int64_t panel)
{
    float products[PLACES * BLOCK * PANEL] __attribute__((aligned(64)));
    const float *u = s->w + panel * PLACES * s->w_pitch;
    ahead results;
    list_results(s, tiles, panel, &results);
    multiply(s, tiles, panel, (span){0, s->depth}, u, s->w_pitch, products, &results);
    write_panel(s, tiles, panel, products);
}

/* Chunk (panel, block of the tiles held): panels in turn, so that threads use the same filters. */
static void panel_chunk(void *arg, int64_t chunk)
{
    const winograd_sweep *s = arg;
    const int64_t blocks = ceil_div(s->held, BLOCK), first = chunk % blocks * BLOCK;
    run_panel(s, (span){first, min64(s->held, first + BLOCK)}, chunk / blocks);
}

/* Chunk: one of many blocks, transformed and multiplied with all filters. */
static void block_chunk(void *arg, int64_t chunk)
{
    float inputs[PLACES * (BLOCK * (MANY_DEPTH + WINOGRAD_APART) + WINOGRAD_APART)] __attribute__((aligned(64)));
    winograd_sweep s = *(const winograd_sweep *)arg;
    s.inputs = inputs;
    s.first = chunk * BLOCK;
    s.held = min64(BLOCK, s.tiles.count - s.first);
    transform_tiles(&s, (span){0, s.held});
    for (int64_t panel = 0; panel < ceil_div(s.channels, PANEL); panel++)
        run_panel(&s, (span){0, s.held}, panel);
}

/* Lists what transform_for_y reads of a panel at some channels of depth, or behind the last ones of the next panel. */
static void list_filters(const winograd_sweep *s, int64_t panel, int64_t first, ahead *next)
{
    ahead_clear(next);
    if (first >= s->depth)
        panel++, first = 0;
    const int64_t filters = min64(PANEL, s->channels - panel * PANEL);
    if (filters > 0)
        ahead_add(next, s->filters + panel * PANEL * 9 * s->depth + first, 9 * filters,
                  min64(TRANSFORMED, s->depth - first), s->depth);
}

/* Chunk: a panel of filters, transformed for the tiles held. */
static void fresh_chunk(void *arg, int64_t panel)
{
    const winograd_sweep *s = arg;
    ahead next;
    ahead_clear(&next);
    float u[PLACES * USED_PLACE] __attribute__((aligned(64)));
    float products[HELD_BLOCKS][PLACES * BLOCK * PANEL] __attribute__((aligned(64)));
    const int64_t blocks = ceil_div(s->held, BLOCK);
    for (int64_t first = 0; first < s->depth; first += TRANSFORMED) {
        const span depth = {first, min64(s->depth, first + TRANSFORMED)};
        transform_filters(s, panel, depth, u, USED_PLACE);
        if (!s->for_dx) /* transform_for_dx asks by itself */
            list_filters(s, panel, depth.end, &next);
        for (int64_t i = 0; i < blocks; i++)
            multiply(s, part_of(s->held, i, blocks), panel, depth, u, USED_PLACE, products[i], &next);
    }
    for (int64_t i = 0; i < blocks; i++)
        write_panel(s, part_of(s->held, i, blocks), panel, products[i]);
}

void winograd_filters(const gr_exec *exec, winograd_sweep *s, const float *w, bool for_dx)
{
    s->filters = w;
    s->for_dx = for_dx;
    if (!s->fresh)
        gr_parallel_for(exec, ceil_div(s->channels, PANEL) * ceil_div(s->depth, TRANSFORMED), filter_chunk, s);
}

void winograd_sweep_run(const gr_exec *exec, winograd_sweep *s)
{
    const int64_t panels = ceil_div(s->channels, PANEL);
    if (s->many) {
        gr_parallel_for(exec, ceil_div(s->tiles.count, BLOCK), block_chunk, s);
        return;
    }
    for (s->first = 0; s->first < s->tiles.count; s->first += s->at_once) {
        s->held = min64(s->at_once, s->tiles.count - s->first);
        gr_parallel_for(exec, ceil_div(s->held, SHARE), transform_chunk, s);
        if (s->fresh)
            gr_parallel_for(exec, panels, fresh_chunk, s);
        else
            gr_parallel_for(exec, ceil_div(s->held, BLOCK) * panels, panel_chunk, s);
    }
}
