/*
 * dense_forward.c - y[n,j] = b[j] + sum_i x[n,i] w[i,j], then max(0, .) if asked.
 *
 * Cut as ../dense.c cuts it: columns of y, its rows, and - for the tall w behind a convolution - the sum over i into
 * parts that are added in order at the end. A chunk goes over its rows of w DEPTH at a time: they are read once, from
 * end to end, rounded and laid out in pairs; the columns of x before them are copied, because rows of x lie so far
 * apart that they share a few sets of the caches.
 */
#include "kernels/cpu/amx/dense.h"
#include "kernels/cpu/amx/dense_few.h"
#include "kernels/cpu/amx/product.h"
#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/amx/weights.h"
#include "kernels/cpu/any_float.h"

enum {
    COLUMNS = 4 * BLOCK,        /* of y in a chunk, at most */
    DEPTH = 512,                /* rows of w at a time: what is packed of them waits in the second-level cache */
    W_HALVES = COLUMNS * DEPTH, /* of a piece of what a chunk packs */
    PART = 1024,                /* rows of w that are worth a part of their own */
    ROWS = 2 * BLOCK,           /* of y that are worth packing w once more */
    CHUNKS = 32,
    AHEAD = 32, /* rows of w from those that are packed to those that are asked for */
    LINE_BYTES = 64
};

typedef struct {
    int pieces;
    const gr_tensor *w; /* [in,out] */
    int64_t n, in, out;
    int64_t column_blocks, row_blocks, parts, steps; /* steps of all of w's rows */
    const void *x;                                   /* [N,in] */
    const float *b;                                  /* [out] or NULL */
    void *y;                                         /* [N,out] */
    bool relu, few;                                  /* few: w is rounded in registers (dense_few.h) */
    int64_t pitch, x_halves;                         /* of a row of sums; of a piece of a chunk's copy of x */
    uint16_t *wb;                                    /* [chunk][piece][panel][step][B_STEP] */
    uint16_t *xb;                                    /* [chunk][piece][rows, whole tiles][DEPTH] */
    float *sums;                                     /* [part][N, whole tiles][pitch] */
    size_t bytes;
} plan;

/* Whether samples are few, and rows of w floats that come in pairs. */
static bool are_few(const gr_call *call)
{
    const gr_tensor *w = call->in[1];
    return call->in[0]->shape[0] <= FEW && w->type == GR_F32 && pieces_of(call) == 1 && w->shape[0] % 2 == 0 &&
           w->shape[1] % TILE == 0;
}

static plan plan_of(const gr_call *call, void *base)
{
    const gr_dense_args *args = call->options;
    plan f = {.pieces = pieces_of(call),
              .w = call->in[1],
              .n = call->in[0]->shape[0],
              .in = call->in[1]->shape[0],
              .out = call->in[1]->shape[1],
              .x = call->in[0]->data,
              .b = gr__f32(call->in[2]),
              .y = call->out[0]->data,
              .relu = args->relu,
              .few = are_few(call)};
    f.column_blocks = ceil_div(f.out, COLUMNS);
    f.parts = max64(1, min64(f.in / PART, CHUNKS / f.column_blocks));
    f.row_blocks = max64(1, min64(f.n / ROWS, CHUNKS / (f.column_blocks * f.parts)));
    f.steps = ceil_div(f.in, STEP);
    f.pitch = round_up(f.out, BLOCK);
    f.x_halves = ceil_div(ceil_div(f.n, TILE), f.row_blocks) * TILE * DEPTH;
    scratch s = {.base = base};
    const int64_t chunks = f.column_blocks * f.row_blocks * f.parts;
    f.wb = scratch_halves(&s, f.few ? 0 : chunks * f.pieces * W_HALVES);
    f.xb = scratch_halves(&s, chunks * f.pieces * f.x_halves);
    f.sums = scratch_take(&s, f.parts * round_up(f.n, TILE) * f.pitch);
    f.bytes = s.used;
    return f;
}

/* What a chunk computes: steps of w's rows, columns of y, tiles of samples. */
typedef struct {
    int64_t part;
    span steps, columns, tiles;
} share;

static share share_of(const plan *f, int64_t chunk)
{
    const int64_t j = chunk / (f->parts * f->row_blocks) * COLUMNS;
    return (share){.part = chunk % f->parts,
                   .steps = part_of(f->steps, chunk % f->parts, f->parts),
                   .columns = {j, min64(f->out, j + COLUMNS)},
                   .tiles = part_of(ceil_div(f->n, TILE), chunk / f->parts % f->row_blocks, f->row_blocks)};
}

/* Two rows of w that will be packed soon: the processor foresees no more than a page. */
INLINE void ask_ahead(const plan *f, span columns, int64_t i)
{
    const int64_t size = (int64_t)gr_type_size(f->w->type);
    const char *w = (const char *)f->w->data + i * f->out * size;
    for (int64_t at = columns.begin * size; at < columns.end * size; at += LINE_BYTES) {
        prefetch_second(w + at);
        prefetch_second(w + f->out * size + at);
    }
}

/* The rows of w of some steps, rounded, in pairs: [panel][step][B_STEP]. */
static void pack_w(const plan *f, span columns, span steps, uint16_t *wb)
{
    for (int64_t step = steps.begin; step < steps.end; step++, wb += B_STEP)
        for (int64_t pair = 0; pair < TILE; pair++) {
            const int64_t i = step * STEP + 2 * pair, at = i * f->out + columns.begin;
            ask_ahead(f, columns, i + AHEAD);
            weights_pair(f->w, i < f->in ? at : -1, i + 1 < f->in ? at + f->out : -1, columns.end - columns.begin,
                         (pair_rows){wb + pair * STEP, (steps.end - steps.begin) * B_STEP, W_HALVES, f->pieces});
        }
}

/* Elements [at, at + n) of x as a step; what a later block reads is asked for. */
INLINE void copy_x_step(const plan *f, int64_t at, int64_t n, uint16_t *xb)
{
    if (f->pieces > 1) {
        const float *x = (const float *)f->x + at;
        prefetch_second(x + DEPTH);
        prefetch_second(x + DEPTH + LINE_BYTES / sizeof *x);
        step_split(x, NULL, n, f->pieces, xb, f->x_halves);
    } else {
        const uint16_t *x = (const uint16_t *)f->x + at;
        prefetch_second(x + DEPTH);
        step_copy(x, xb, n);
    }
}

/* The columns of x above them: [row of a tile][DEPTH], zeros behind the last sample and the last feature. */
static void copy_x(const plan *f, span tiles, span steps, uint16_t *xb)
{
    for (int64_t n = tiles.begin * TILE; n < tiles.end * TILE; n++, xb += DEPTH)
        for (int64_t step = steps.begin; step < steps.end; step++) {
            const int64_t i = step * STEP, some = n < f->n ? f->in - i : 0;
            copy_x_step(f, some ? n * f->in + i : 0, some, xb + (step - steps.begin) * STEP);
        }
}

/* sums (+)= x w over what is packed. */
static void add_products(const plan *f, const share *part, int64_t steps, const uint16_t *xb, const uint16_t *wb,
                         bool accumulate)
{
    static const int64_t at_once[] = {0};
    const int64_t rows = round_up(f->n, TILE);
    for (int64_t j = part->columns.begin; j < part->columns.end; j += BLOCK, wb += steps * B_STEP)
        for (int64_t t = part->tiles.begin; t < part->tiles.end; t += 2) {
            const uint16_t *a = xb + (t - part->tiles.begin) * TILE * DEPTH;
            const tile_product product = {.a = {a, t + 1 < part->tiles.end ? a + TILE * DEPTH : NULL},
                                          .a_row = DEPTH,
                                          .a_step = STEP,
                                          .offsets = at_once,
                                          .taps = 1,
                                          .steps = steps,
                                          .b = wb,
                                          .pieces = f->pieces,
                                          .a_piece = f->x_halves,
                                          .b_piece = W_HALVES,
                                          .c = f->sums + (part->part * rows + t * TILE) * f->pitch + j,
                                          .c_row = f->pitch,
                                          .accumulate = accumulate};
            tile_product_run(&product);
        }
}

/* Rows of w before a step, as far as there are any. */
static int64_t rows_before(const plan *f, int64_t step)
{
    return min64(step * STEP, f->in);
}

/* Lists some steps' rows of w, as far as they are a part's; chances: to ask for one. */
static void list_w(const plan *f, const share *part, int64_t step, int64_t steps, int64_t chances, ahead *h)
{
    const int64_t i = rows_before(f, step), end = rows_before(f, min64(step + steps, part->steps.end));
    ahead_clear(h);
    ahead_add(h, gr__f32(f->w) + i * f->out + part->columns.begin, max64(0, end - i),
              part->columns.end - part->columns.begin, f->out);
    ahead_begin(h, chances);
}

/* The sums of a part by rows of w as they are (dense_few.h), some steps at a time. */
static void add_few(const plan *f, const share *part, uint16_t *xb)
{
    enum { STEPS = FEW_DEPTH / STEP };
    const int64_t rows = round_up(f->n, TILE), tiles = part->tiles.end - part->tiles.begin;
    ahead h;
    for (int64_t step = part->steps.begin; step < part->steps.end; step += STEPS) {
        const span steps = {step, min64(part->steps.end, step + STEPS)};
        const int64_t i = rows_before(f, steps.begin), end = rows_before(f, steps.end);
        few_product product = {.x_row = DEPTH,
                               .w = gr__f32(f->w) + i * f->out + part->columns.begin,
                               .w_row = f->out,
                               .pairs = (end - i) / 2,
                               .columns = part->columns.end - part->columns.begin,
                               .c_row = f->pitch,
                               .accumulate = step > part->steps.begin,
                               .ahead = &h};
        list_w(f, part, steps.end, STEPS, tiles * few_product_chances(&product), &h);
        copy_x(f, part->tiles, steps, xb);
        for (int64_t t = 0; t < tiles; t++) {
            product.x = xb + t * TILE * DEPTH;
            product.c = f->sums + (part->part * rows + (part->tiles.begin + t) * TILE) * f->pitch + part->columns.begin;
            few_product_run(&product);
        }
    }
}

static void sum_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const share part = share_of(f, chunk);
    uint16_t *wb = f->wb + chunk * f->pieces * W_HALVES, *xb = f->xb + chunk * f->pieces * f->x_halves;
    if (f->few) {
        add_few(f, &part, xb);
        return;
    }
    tiles_begin();
    for (int64_t step = part.steps.begin; step < part.steps.end; step += DEPTH / STEP) {
        const span steps = {step, min64(part.steps.end, step + DEPTH / STEP)};
        pack_w(f, part.columns, steps, wb);
        copy_x(f, part.tiles, steps, xb);
        add_products(f, &part, steps.end - steps.begin, xb, wb, step > part.steps.begin);
    }
    tiles_end();
}

/* Row n of y from the parts. */
static void combine_chunk(void *arg, int64_t n)
{
    const plan *f = arg;
    const int64_t rows = round_up(f->n, TILE);
    for (int64_t j = 0; j < f->out; j += VL) {
        const int64_t width = min64(VL, f->out - j);
        vec v = f->b ? vec_load_n(f->b + j, width) : (vec){0};
        for (int64_t part = 0; part < f->parts; part++)
            v += vec_load_n(f->sums + (part * rows + n) * f->pitch + j, width);
        store_as_n(f->pieces > 1 ? GR_F32 : GR_BF16, f->y, n * f->out + j, f->relu ? vec_relu(v) : v, width);
    }
}

void GR_TILED(dense_forward_run)(const gr_call *call)
{
    plan f = plan_of(call, call->exec->scratch);
    gr_parallel_for(call->exec, f.column_blocks * f.row_blocks * f.parts, sum_chunk, &f);
    gr_parallel_for(call->exec, f.n, combine_chunk, &f);
}

size_t GR_TILED(dense_forward_scratch)(const gr_call *call)
{
    return plan_of(call, NULL).bytes;
}
