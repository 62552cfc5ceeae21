/*
 * grad_w.c - see grad_w.h.
 *
 *   dW[k,r,s,c] = sum over pixels of dz[pixel,k] x[window of the pixel, r,s,c]
 *
 * The sum runs over pixels, so tiles want x with the pixels of a row side by side, [channel][pixel], and dz in pairs of
 * pixels. A filter tap is then nothing but another place to begin in a row of x. Some units of the batch at a time are
 * turned and copied; then each chunk of sums goes over all of them with its c in registers.
 *
 * Where an output row does not end with a step, the rest of the step has zeros for dz. They must not meet pixels of x,
 * which may be infinite: there x is copied once for each column of taps, with zeros behind the last output pixel.
 */
#include "kernels/cpu/amx/grad_w.h"

#include "kernels/cpu/amx/product.h"
#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/bf16.h"

enum {
    SLICE_HALVES = 1 << 19,  /* of x and dz that a chunk of sums goes over: half a second-level cache */
    COPIED_HALVES = 1 << 22, /* of all that is copied at once */
    SHARES = 16,             /* pieces of work that keep many processors busy */
    SUMMED = 16              /* parts of the batch for db */
};

typedef struct {
    gr_geometry g;
    cell_layout x, dz;
    half_images x_from, dz_from;
    int64_t k, depth;                   /* filters; channels that a tap has */
    int64_t panels, blocks_c, tap_rows; /* blocks of filters, of channels; rows of taps */
    int64_t columns;                    /* copies of a row of x: one for each column phase, or of taps, */
    bool apart;                         /* which is the latter */
    int64_t steps, pitch;        /* steps of an output row; pixels of a row of x, those behind its end among them */
    int64_t rows, blocks, units; /* output rows of a unit; units of an image group, of the batch */
    int64_t at_once, parts;
    /* halves of a block of 32: */
    int64_t x_row, x_rows, x_unit, dz_unit; /* of a row of x, rows of a unit; of a unit of x and of dz */
    int64_t spare;                          /* halves for a row while it is turned */
    uint16_t *x_turned;                     /* [block of c][unit][row][column][BLOCK][pitch] */
    uint16_t *dz_pairs;                     /* [panel][unit][row][step][B_STEP] */
    uint16_t *spares;                       /* [unit][x or dz][spare] */
    int64_t *offsets;                       /* [unit][row] */
    float *sums;                            /* [part][panel][tap][block of c][BLOCK][BLOCK filters] */
    int64_t part_floats;
    float *db_sums; /* [SUMMED][K] */
    size_t bytes;
    const gr_call *call;
    int64_t first, held; /* units at work */
} plan;

/* The most rows of a unit that are not more than fit and leave none over. */
static int64_t rows_of(int64_t p, int64_t fit)
{
    int64_t rows = min64(p, fit);
    while (p % rows)
        rows--;
    return rows;
}

static void cut(plan *f)
{
    const int64_t each = cell_stride(&f->x) * f->x_row + f->steps * B_STEP; /* halves of a block for an output row */
    f->rows = rows_of(f->g.p, max64(1, SLICE_HALVES / 2 / each));
    f->blocks = f->g.p / f->rows;
    f->units = f->x.groups * f->blocks;
    f->x_rows = cell_rows(&f->x, f->rows);
    f->x_unit = f->x_rows * f->x_row;
    f->dz_unit = f->rows * f->steps * B_STEP;
    const int64_t whole = f->blocks_c * f->x_unit + f->panels * f->dz_unit + 2 * f->spare;
    f->at_once = min64(SLICE_HALVES / (f->x_unit + f->dz_unit), COPIED_HALVES / whole);
    f->at_once = max64(1, min64(f->at_once, f->units));
    f->parts = min64(f->at_once, ceil_div(SHARES, f->panels * f->blocks_c * f->tap_rows));
}

static plan plan_of(const gr_call *call, const gr_geometry *g, void *base)
{
    const gr_conv2d_args *args = call->options;
    plan f = {.g = *g, .k = call->in[1]->shape[0], .call = call};
    const gr_geometry as_it_is = {
        .n = g->n, .h = g->p, .w = g->q, .c = f.k, .r = 1, .s = 1, .p = g->p, .q = g->q, .stride_h = 1, .stride_w = 1};
    f.x = cells_of(g, STEP, true);
    f.dz = cells_of(&as_it_is, STEP, false);
    f.x_from = (half_images){.data = call->in[0]->data};
    f.dz_from = (half_images){call->d_out[0]->data, args->relu ? call->out[0]->data : NULL};
    f.depth = f.x.windows ? g->r * g->s * g->c : g->c;
    f.panels = ceil_div(f.k, BLOCK);
    f.blocks_c = ceil_div(f.depth, BLOCK);
    f.tap_rows = f.x.tap_rows;
    f.steps = ceil_div(g->q * f.x.group, STEP);
    f.apart = g->q * f.x.group % STEP && !f.x.windows;
    f.columns = f.apart ? g->s : f.x.phases;
    const int64_t last = f.x.windows ? 0 : (g->s - 1) / g->stride_w; /* column where the last tap begins */
    f.pitch = f.apart ? f.steps * STEP : round_up(max64(f.x.cells, last + g->q) * f.x.group, STEP);
    f.x_row = f.columns * BLOCK * f.pitch;
    f.spare = max64(f.x.row + 2 * TILE * f.pitch, f.steps * STEP * f.dz.depth);
    cut(&f);
    f.part_floats = f.panels * f.x.taps * f.blocks_c * BLOCK * BLOCK;
    scratch s = {.base = base};
    f.x_turned = scratch_halves(&s, f.at_once * f.blocks_c * f.x_unit);
    f.dz_pairs = scratch_halves(&s, f.at_once * f.panels * f.dz_unit);
    f.spares = scratch_halves(&s, f.at_once * 2 * f.spare);
    f.offsets = (int64_t *)scratch_take(&s, 2 * f.at_once * f.rows);
    f.sums = scratch_take(&s, call->d_in[1] ? f.parts * f.part_floats : 0);
    f.db_sums = scratch_take(&s, call->d_in[2] ? SUMMED * f.k : 0);
    f.bytes = s.used;
    return f;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

/* cells[pixels][depth] of a column phase, 32 channels of them, to turned[32][pitch], zeros behind the last pixel. */
static void turn(const uint16_t *cells, int64_t depth, int64_t pixels, float *pairs, uint16_t *turned, int64_t pitch)
{
    transpose((const float *)cells, depth / 2, pixels, TILE, pairs, pitch); /* pairs of channels */
    for (int64_t i = 0; i < TILE; i++) {
        uint16_t *even = turned + 2 * i * pitch, *odd = even + pitch;
        for (int64_t j = 0; j < pixels; j++) {
            uint32_t pair;
            memcpy(&pair, pairs + i * pitch + j, sizeof pair);
            even[j] = (uint16_t)pair;
            odd[j] = (uint16_t)(pair >> 16);
        }
        memset(even + pixels, 0, (size_t)(pitch - pixels) * sizeof *even);
        memset(odd + pixels, 0, (size_t)(pitch - pixels) * sizeof *odd);
    }
}

static void copy_x(const plan *f, int64_t slot, uint16_t *cells)
{
    const cell_layout *l = &f->x;
    const int64_t unit = f->first + slot, group = unit / f->blocks, p = unit % f->blocks * f->rows;
    const int64_t pixels = (f->apart ? f->g.q : l->cells) * l->group;
    float *pairs = (float *)(cells + l->row);
    for (int64_t i = 0; i < f->x_rows; i++) {
        cells_copy(l, &f->x_from, group, p * cell_stride(l) + i, cells);
        for (int64_t c = 0; c < f->blocks_c; c++)
            for (int64_t s = 0; s < f->columns; s++) {
                const int64_t first = (s % l->phases * l->cells + s / l->phases) * l->group;
                turn(cells + first * l->depth + c * BLOCK, l->depth, pixels, pairs,
                     f->x_turned + (c * f->at_once + slot) * f->x_unit + i * f->x_row + s * BLOCK * f->pitch, f->pitch);
            }
    }
}

static void copy_dz(const plan *f, int64_t slot, uint16_t *cells)
{
    const cell_layout *l = &f->dz;
    const int64_t unit = f->first + slot, group = unit / f->blocks, p = unit % f->blocks * f->rows;
    memset(cells + l->row, 0, (size_t)(f->steps * STEP * l->depth - l->row) * sizeof *cells);
    for (int64_t i = 0; i < f->rows; i++) {
        cells_copy(l, &f->dz_from, group, p + i, cells);
        for (int64_t j = 0; j < f->steps * TILE; j++)
            for (int64_t k = 0; k < l->depth; k += TILE) {
                uint16_t *panel = f->dz_pairs + (k / BLOCK * f->at_once + slot) * f->dz_unit;
                uint16_t *step = panel + (i * f->steps + j / TILE) * B_STEP + k % BLOCK / TILE * (B_STEP / 2);
                const uint16_t *two = cells + 2 * j * l->depth + k;
                pair_up(two, two + l->depth, step + j % TILE * STEP, TILE);
            }
    }
}

/* Chunk (unit, x or dz). */
static void copy_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    (chunk % 2 ? copy_dz : copy_x)(f, chunk / 2, f->spares + chunk * f->spare);
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* Chunk (part of the units, block of channels, panel of filters, row of taps). */
static void sum_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const cell_layout *l = &f->x;
    const int64_t r = chunk % f->tap_rows, panel = chunk / f->tap_rows % f->panels;
    const int64_t c = chunk / (f->tap_rows * f->panels) % f->blocks_c;
    const int64_t part = chunk / (f->tap_rows * f->panels * f->blocks_c), taps = l->taps / f->tap_rows;
    const span units = part_of(f->held, part, f->parts);
    tile_product product = {.a_row = f->pitch,
                            .offsets = f->offsets + units.begin * f->rows,
                            .taps = (units.end - units.begin) * f->rows,
                            .steps = f->steps,
                            .b = f->dz_pairs + (panel * f->at_once + units.begin) * f->dz_unit,
                            .c_row = BLOCK,
                            .accumulate = f->first > 0};
    const uint16_t *x = f->x_turned + c * f->at_once * f->x_unit + r * f->x_row;
    tiles_begin();
    for (int64_t s = 0; s < taps; s++) {
        product.a[0] =
            x + (f->apart ? s * BLOCK * f->pitch : s % l->phases * BLOCK * f->pitch + s / l->phases * l->group);
        product.a[1] = f->depth - c * BLOCK > TILE ? product.a[0] + TILE * f->pitch : NULL;
        product.c =
            f->sums + part * f->part_floats + ((panel * l->taps + r * taps + s) * f->blocks_c + c) * BLOCK * BLOCK;
        tile_product_run(&product);
    }
    tiles_end();
}

/* d (+)= sum, of floats. */
INLINE void give(float *d, float sum, bool accumulate)
{
    *d = accumulate ? *d + sum : sum;
}

/* Chunk (panel, tap): the parts put together in order, and turned. */
static void combine_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const int64_t k = chunk / f->x.taps * BLOCK, tap = chunk % f->x.taps, filters = min64(BLOCK, f->k - k);
    float *dw = gr__f32(f->call->d_in[1]) + k * f->x.taps * f->depth + tap * f->depth;
    float turned[BLOCK * BLOCK] __attribute__((aligned(64)));
    for (int64_t c = 0; c < f->depth; c += BLOCK) {
        const int64_t channels = min64(BLOCK, f->depth - c);
        float *sums = f->sums + (chunk * f->blocks_c + c / BLOCK) * BLOCK * BLOCK;
        for (int64_t part = 1; part < f->parts; part++)
            for (int64_t i = 0; i < channels * BLOCK; i++)
                sums[i] += sums[part * f->part_floats + i];
        transpose(sums, BLOCK, channels, filters, turned, BLOCK);
        for (int64_t i = 0; i < filters; i++)
            for (int64_t j = 0; j < channels; j++)
                give(dw + i * f->x.taps * f->depth + c + j, turned[i * BLOCK + j], f->call->accumulate >> 1 & 1);
    }
}

/* Chunk: a part of the batch, summed pixel after pixel. */
static void db_chunk(void *arg, int64_t part)
{
    const plan *f = arg;
    const span pixels = part_of(f->g.n * f->g.p * f->g.q, part, SUMMED);
    float *sums = f->db_sums + part * f->k;
    memset(sums, 0, (size_t)f->k * sizeof *sums);
    for (int64_t i = pixels.begin; i < pixels.end; i++)
        for (int64_t k = 0; k < f->k; k += VL) {
            const int64_t n = min64(VL, f->k - k);
            uint16_t dz[VL] = {0}, gate[VL] = {0};
            memcpy(dz, f->dz_from.data + i * f->k + k, (size_t)n * sizeof *dz);
            vec v = from_bf16(dz);
            if (f->dz_from.gate) {
                memcpy(gate, f->dz_from.gate + i * f->k + k, (size_t)n * sizeof *gate);
                v = vec_gate(from_bf16(gate), v);
            }
            vec_store_n(sums + k, vec_load_n(sums + k, n) + v, n);
        }
}

static void add_db(const plan *f)
{
    gr_parallel_for(f->call->exec, SUMMED, db_chunk, (void *)f);
    for (int64_t k = 0; k < f->k; k++) {
        float sum = f->db_sums[k];
        for (int64_t part = 1; part < SUMMED; part++)
            sum += f->db_sums[part * f->k + k];
        give(gr__f32(f->call->d_in[2]) + k, sum, f->call->accumulate >> 2 & 1);
    }
}

void tiled_grad_w_run(const gr_call *call, const gr_geometry *g)
{
    plan f = plan_of(call, g, call->exec->scratch);
    if (call->d_in[2])
        add_db(&f);
    if (!call->d_in[1])
        return;
    for (int64_t i = 0; i < f.at_once * f.rows; i++)
        f.offsets[i] = i / f.rows * f.x_unit + i % f.rows * cell_stride(&f.x) * f.x_row;
    for (f.first = 0; f.first < f.units; f.first += f.at_once) {
        f.held = min64(f.at_once, f.units - f.first);
        gr_parallel_for(call->exec, 2 * f.held, copy_chunk, &f);
        gr_parallel_for(call->exec, f.parts * f.blocks_c * f.panels * f.tap_rows, sum_chunk, &f);
    }
    gr_parallel_for(call->exec, f.panels * f.x.taps, combine_chunk, &f);
}

size_t tiled_grad_w_scratch(const gr_call *call, const gr_geometry *g)
{
    return plan_of(call, g, NULL).bytes;
}
