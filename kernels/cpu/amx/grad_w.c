/*
 * grad_w.c - see grad_w.h.
 *
 *   dW[k,r,s,c] = sum over pixels of dz[pixel,k] x[window of the pixel, r,s,c]
 *
 * The sum runs over pixels, so tiles want x with the pixels of a row side by side, [channel][pixel], and dz in pairs of
 * pixels. A filter tap is then nothing but another place to begin in a row of x. A unit - some rows of a group of
 * images - is turned and copied; then each block of sums goes over it with its c in registers.
 *
 * Where an output row does not end with a step, the rest of the step has zeros for dz. They must not meet pixels of x,
 * which may be infinite: there x is copied once for each column of taps, with zeros behind the last output pixel.
 */
#include "kernels/cpu/amx/grad_w.h"

#include "kernels/cpu/amx/product.h"
#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/amx/turn.h"
#include "kernels/cpu/any_float.h"

enum {
    COPIED_HALVES = 1 << 20, /* of all that is copied at once: they stay in second-level caches */
    PART_HALVES = 1 << 19,   /* of a unit that a thread copies for itself */
    SHARES = 16,             /* pieces of work that keep many processors busy */
    SUMMED = 16              /* parts of the batch for db */
};

typedef struct {
    gr_geometry g;
    cell_layout x, dz;
    tiled_images x_from, dz_from;
    int64_t k, depth;            /* filters; channels that a tap has */
    int64_t panels, blocks_c;    /* blocks of filters, of channels */
    int64_t columns;             /* copies of a row of x: one for each column phase, or of taps, */
    bool apart;                  /* which is the latter */
    int64_t steps, pitch;        /* steps of an output row; pixels of a row of x, those behind its end among them */
    int64_t a_row, a_step;       /* halves from a channel of x, or a step of pixels, to the next */
    int64_t rows, blocks, units; /* output rows of a unit, at most; units of an image group, of the batch */
    int64_t at_once, parts;      /* units that are copied at a time; parts of them, each with its sums */
    bool whole;                  /* all units are copied at a time, and their sums need no memory */
    /* halves of a block of 32: */
    int64_t x_row, x_rows, x_unit, dz_unit; /* of a row of x, rows of a unit; of a unit of x and of dz */
    int pieces;
    uint16_t *x_turned; /* [piece][block of c][unit][row][column], channels and steps of pixels as a_.. say */
    uint16_t *dz_pairs; /* [piece][panel][unit][row][step][B_STEP] */
    int64_t *offsets;   /* [row] */
    float *sums;        /* [part][panel][block of c][tap][BLOCK][BLOCK filters] */
    int64_t part_floats;
    float *db_sums; /* [SUMMED][K] */
    size_t bytes;
    const gr_call *call;
    int64_t first, held; /* units at work, where there are no parts */
} plan;

/*
 * Where there are many blocks of sums, all threads copy some units and then share the blocks; where there are few, the
 * units are dealt out as parts, each with sums of its own, and what one thread copies no other one has to fetch.
 */
static void cut(plan *f)
{
    const int64_t sums = f->panels * f->blocks_c;
    const int64_t row = f->pieces * f->blocks_c * f->x_row; /* halves of an output row */
    const int64_t dz_row = f->pieces * f->panels * f->steps * B_STEP;
    const int64_t fit = max64(1, (sums < SHARES ? PART_HALVES : COPIED_HALVES) / (cell_stride(&f->x) * row + dz_row));
    const int64_t parts = ceil_div(SHARES, sums);
    f->blocks = max64(ceil_div(f->g.p, fit), min64(f->g.p, parts / f->x.groups));
    f->rows = ceil_div(f->g.p, f->blocks);
    f->blocks = ceil_div(f->g.p, f->rows);
    f->units = f->x.groups * f->blocks;
    f->parts = min64(parts, f->units);
    f->x_rows = cell_rows(&f->x, f->rows);
    f->x_unit = f->x_rows * f->x_row;
    f->dz_unit = f->rows * f->steps * B_STEP;
    const int64_t whole = f->pieces * (f->blocks_c * f->x_unit + f->panels * f->dz_unit);
    f->part_floats = sums * f->x.taps * BLOCK * BLOCK;
    f->at_once = f->parts > 1 ? f->parts : max64(1, min64(COPIED_HALVES / whole, f->units));
    f->whole = f->parts == 1 && f->at_once == f->units;
}

/* Halves of a piece of all that is copied. */
INLINE int64_t x_piece(const plan *f)
{
    return f->at_once * f->blocks_c * f->x_unit;
}
INLINE int64_t dz_piece(const plan *f)
{
    return f->at_once * f->panels * f->dz_unit;
}

static plan plan_of(const gr_call *call, const gr_geometry *g, void *base)
{
    const gr_conv2d_args *args = call->options;
    plan f = {.g = *g, .k = call->in[1]->shape[0], .pieces = pieces_of(call), .call = call};
    const gr_geometry as_it_is = {
        .n = g->n, .h = g->p, .w = g->q, .c = f.k, .r = 1, .s = 1, .p = g->p, .q = g->q, .stride_h = 1, .stride_w = 1};
    f.x = cells_of(g, STEP, true);
    f.dz = cells_of(&as_it_is, STEP, false);
    f.x_from = (tiled_images){.data = call->in[0]->data, .pieces = f.pieces, .distance = STEP * STEP};
    f.dz_from = (tiled_images){.data = call->d_out[0]->data,
                               .gate = args->relu ? call->out[0]->data : NULL,
                               .pieces = f.pieces,
                               .distance = STEP * STEP};
    f.depth = f.x.windows ? g->r * g->s * g->c : g->c;
    f.panels = ceil_div(f.k, BLOCK);
    f.blocks_c = ceil_div(f.depth, BLOCK);
    f.steps = ceil_div(g->q * f.x.group, STEP);
    f.apart = g->q * f.x.group % STEP && !f.x.windows;
    f.columns = f.apart ? g->s : f.x.phases;
    const int64_t last = f.x.windows ? 0 : (g->s - 1) / g->stride_w; /* column where the last tap begins */
    f.pitch = f.apart ? f.steps * STEP : round_up(max64(f.x.cells, last + g->q) * f.x.group, STEP);
    f.x_row = f.columns * BLOCK * f.pitch;
    f.a_row = f.x.group == STEP ? STEP : f.pitch; /* then taps begin at whole steps, which lie as they are read */
    f.a_step = f.x.group == STEP ? BLOCK * STEP : STEP;
    cut(&f);
    scratch s = {.base = base};
    f.x_turned = scratch_halves(&s, f.pieces * x_piece(&f));
    f.dz_pairs = scratch_halves(&s, f.pieces * dz_piece(&f));
    f.offsets = (int64_t *)scratch_take(&s, 2 * f.rows);
    f.sums = scratch_take(&s, f.whole || !call->d_in[1] ? 0 : f.parts * f.part_floats);
    f.db_sums = scratch_take(&s, call->d_in[2] ? SUMMED * f.k : 0);
    f.bytes = s.used;
    return f;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

/* Row i of x of a unit. */
static void copy_x(const plan *f, int64_t unit, int64_t slot, int64_t i)
{
    const cell_layout *l = &f->x;
    const int64_t group = unit / f->blocks;
    const int64_t row = unit % f->blocks * f->rows * cell_stride(l) + i;
    const int64_t pixels = (f->apart ? f->g.q : l->cells) * l->group;
    uint16_t *turned = f->x_turned + slot * f->x_unit + i * f->x_row;
    for (int64_t s = 0; s < f->columns; s++)
        for (int64_t j = 0; j < f->pitch; j += STEP) {
            const int64_t first = (s % l->phases * l->cells + s / l->phases) * l->group;
            int64_t places[STEP];
            uint16_t block[MOST_PIECES][STEP * STEP] __attribute__((aligned(64)));
            cell_places(l, group, row, first + j, pixels - j, places);
            for (int64_t c = 0; c < f->blocks_c; c++) {
                uint16_t *to = turned + c * f->at_once * f->x_unit + s * BLOCK * f->pitch + j / STEP * f->a_step;
                cells_gather(l, &f->x_from, places, c * BLOCK, block[0]);
                for (int p = 0; p < f->pieces; p++)
                    turn(block[p], to + p * x_piece(f), f->a_row);
            }
        }
}

/* A step of pixels, STEP filters each, in pairs. */
INLINE void pair_pixels(const uint16_t *block, uint16_t *step)
{
    for (int64_t two = 0; two < STEP; two += 2, step += STEP) {
        pair_up(block + two * STEP, block + (two + 1) * STEP, step, TILE);
        pair_up(block + two * STEP + TILE, block + (two + 1) * STEP + TILE, step + B_STEP / 2, TILE);
    }
}

static void copy_dz(const plan *f, int64_t unit, int64_t slot, int64_t i)
{
    const cell_layout *l = &f->dz;
    const int64_t group = unit / f->blocks, row = unit % f->blocks * f->rows + i;
    uint16_t *pairs = f->dz_pairs + slot * f->dz_unit + i * f->steps * B_STEP;
    for (int64_t j = 0; j < f->steps; j++, pairs += B_STEP) {
        int64_t places[STEP];
        uint16_t block[MOST_PIECES][STEP * STEP] __attribute__((aligned(64)));
        cell_places(l, group, row, j * STEP, f->g.q * l->group - j * STEP, places);
        for (int64_t panel = 0; panel < f->panels; panel++) {
            cells_gather(l, &f->dz_from, places, panel * BLOCK, block[0]);
            for (int p = 0; p < f->pieces; p++)
                pair_pixels(block[p], pairs + p * dz_piece(f) + panel * f->at_once * f->dz_unit);
        }
    }
}

/* Row i of a unit: x's come first, then those of dz. */
static void copy_row(const plan *f, int64_t unit, int64_t slot, int64_t i)
{
    if (i < f->x_rows)
        copy_x(f, unit, slot, i);
    else
        copy_dz(f, unit, slot, i - f->x_rows);
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* The sums of a part for a panel of filters, a block of channels, and a tap. */
INLINE float *sums_of(const plan *f, int64_t part, int64_t panel, int64_t c, int64_t tap)
{
    return f->sums + part * f->part_floats + ((panel * f->blocks_c + c) * f->x.taps + tap) * BLOCK * BLOCK;
}

/* What a unit's pixels add to the sums of a tap. */
static void sum_unit(const plan *f, int64_t unit, int64_t slot, int64_t panel, int64_t c, int64_t tap, float *sums,
                     bool accumulate)
{
    const cell_layout *l = &f->x;
    const int64_t rows = min64(f->rows, f->g.p - unit % f->blocks * f->rows); /* an image's last unit may have fewer */
    const int64_t taps = l->taps / l->tap_rows, r = tap / taps, s = tap % taps;
    const int64_t column = f->apart ? s : s % l->phases, shift = f->apart ? 0 : s / l->phases * l->group;
    const uint16_t *x = f->x_turned + (c * f->at_once + slot) * f->x_unit + r * f->x_row + column * BLOCK * f->pitch +
                        (l->group == STEP ? shift * BLOCK : shift);
    const tile_product product = {.a = {x, f->depth - c * BLOCK > TILE ? x + TILE * f->a_row : NULL},
                                  .a_row = f->a_row,
                                  .a_step = f->a_step,
                                  .offsets = f->offsets,
                                  .taps = rows,
                                  .steps = f->steps,
                                  .b = f->dz_pairs + (panel * f->at_once + slot) * f->dz_unit,
                                  .pieces = f->pieces,
                                  .a_piece = x_piece(f),
                                  .b_piece = dz_piece(f),
                                  .c = sums,
                                  .c_row = BLOCK,
                                  .accumulate = accumulate};
    tile_product_run(&product);
}

/* dW of a tap for a panel of filters and a block of channels, from its sums. */
static void give_block(const plan *f, int64_t panel, int64_t c, int64_t tap, const float *sums)
{
    const int64_t filters = min64(BLOCK, f->k - panel * BLOCK), channels = min64(BLOCK, f->depth - c * BLOCK);
    const int64_t filter = f->x.taps * f->depth;
    const bool accumulate = f->call->accumulate >> 1 & 1;
    float *dw = gr__f32(f->call->d_in[1]) + panel * BLOCK * filter + tap * f->depth + c * BLOCK;
    float turned[BLOCK * BLOCK] __attribute__((aligned(64)));
    transpose(sums, BLOCK, channels, filters, turned, BLOCK);
    for (int64_t i = 0; i < filters; i++)
        for (int64_t j = 0; j < channels; j += VL) {
            const int64_t n = min64(VL, channels - j);
            float *to = dw + i * filter + j;
            const vec sum = vec_load_n(turned + i * BLOCK + j, n);
            vec_store_n(to, accumulate ? vec_load_n(to, n) + sum : sum, n);
        }
}

/* Chunk: a part of the units, from beginning to end, in a slot of its own. */
static void part_chunk(void *arg, int64_t part)
{
    const plan *f = arg;
    const span units = part_of(f->units, part, f->parts);
    tiles_begin();
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        for (int64_t i = 0; i < f->x_rows + f->rows; i++)
            copy_row(f, unit, part, i);
        for (int64_t c = 0; c < f->blocks_c; c++)
            for (int64_t panel = 0; panel < f->panels; panel++)
                for (int64_t tap = 0; tap < f->x.taps; tap++)
                    sum_unit(f, unit, part, panel, c, tap, sums_of(f, part, panel, c, tap), unit > units.begin);
    }
    tiles_end();
}

/* Chunk (panel, tap): the parts put together in order. */
static void combine_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const int64_t panel = chunk / f->x.taps, tap = chunk % f->x.taps;
    for (int64_t c = 0; c < f->blocks_c; c++) {
        float *sums = sums_of(f, 0, panel, c, tap);
        for (int64_t part = 1; part < f->parts; part++)
            for (int64_t i = 0; i < BLOCK * BLOCK; i += VL)
                vec_store(sums + i, vec_load(sums + i) + vec_load(sums + part * f->part_floats + i));
        give_block(f, panel, c, tap, sums);
    }
}

/* Chunk (unit at work, row). */
static void copy_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const int64_t rows = f->x_rows + f->rows, slot = chunk / rows;
    copy_row(f, f->first + slot, slot, chunk % rows);
}

/* Chunk (block of channels, panel of filters), over the units at work. */
static void block_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const int64_t panel = chunk % f->panels, c = chunk / f->panels;
    tiles_begin();
    for (int64_t tap = 0; tap < f->x.taps; tap++)
        for (int64_t slot = 0; slot < f->held; slot++)
            sum_unit(f, f->first + slot, slot, panel, c, tap, sums_of(f, 0, panel, c, tap), f->first + slot > 0);
    tiles_end();
}

/* Chunk (panel, tap), where all units are at work: the sums need no memory. */
static void whole_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const int64_t panel = chunk / f->x.taps, tap = chunk % f->x.taps;
    float sums[BLOCK * BLOCK] __attribute__((aligned(64)));
    tiles_begin();
    for (int64_t c = 0; c < f->blocks_c; c++) {
        for (int64_t unit = 0; unit < f->units; unit++)
            sum_unit(f, unit, unit, panel, c, tap, sums, unit > 0);
        give_block(f, panel, c, tap, sums);
    }
    tiles_end();
}

static void run_units(plan *f)
{
    const gr_exec *exec = f->call->exec;
    for (f->first = 0; f->first < f->units; f->first += f->at_once) {
        f->held = min64(f->at_once, f->units - f->first);
        gr_parallel_for(exec, f->held * (f->x_rows + f->rows), copy_chunk, f);
        if (f->whole)
            gr_parallel_for(exec, f->panels * f->x.taps, whole_chunk, f);
        else
            gr_parallel_for(exec, f->blocks_c * f->panels, block_chunk, f);
    }
}

/* A part of the batch, summed pixel after pixel. */
INLINE void sum_part(const plan *f, gr_type type, int64_t part)
{
    const span pixels = part_of(f->g.n * f->g.p * f->g.q, part, SUMMED);
    float *sums = f->db_sums + part * f->k;
    memset(sums, 0, (size_t)f->k * sizeof *sums);
    for (int64_t i = pixels.begin; i < pixels.end; i++)
        for (int64_t k = 0; k < f->k; k += VL) {
            const int64_t n = min64(VL, f->k - k);
            vec v = load_as_n(type, f->dz_from.data, i * f->k + k, n);
            if (f->dz_from.gate)
                v = vec_gate(load_as_n(type, f->dz_from.gate, i * f->k + k, n), v);
            vec_store_n(sums + k, vec_load_n(sums + k, n) + v, n);
        }
}

/* Chunk: a part. */
static void db_chunk(void *arg, int64_t part)
{
    const plan *f = arg;
    if (f->pieces > 1)
        sum_part(f, GR_F32, part);
    else
        sum_part(f, GR_BF16, part);
}

static void add_db(const plan *f)
{
    float *db = gr__f32(f->call->d_in[2]);
    gr_parallel_for(f->call->exec, SUMMED, db_chunk, (void *)f);
    for (int64_t k = 0; k < f->k; k++) {
        float sum = f->db_sums[k];
        for (int64_t part = 1; part < SUMMED; part++)
            sum += f->db_sums[part * f->k + k];
        db[k] = f->call->accumulate >> 2 & 1 ? db[k] + sum : sum;
    }
}

void tiled_grad_w_run(const gr_call *call, const gr_geometry *g)
{
    plan f = plan_of(call, g, call->exec->scratch);
    if (call->d_in[2])
        add_db(&f);
    if (!call->d_in[1])
        return;
    for (int64_t i = 0; i < f.rows; i++)
        f.offsets[i] = i * cell_stride(&f.x) * f.x_row;
    if (f.parts > 1)
        gr_parallel_for(call->exec, f.parts, part_chunk, &f);
    else
        run_units(&f);
    if (!f.whole)
        gr_parallel_for(call->exec, f.panels * f.x.taps, combine_chunk, &f);
}

size_t tiled_grad_w_scratch(const gr_call *call, const gr_geometry *g)
{
    return plan_of(call, g, NULL).bytes;
}
