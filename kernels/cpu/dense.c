/*
 * dense.c - dense layer.
 *
 *   y[n,j] = b[j] + sum_i x[n,i] w[i,j], then max(0, .) if asked
 *
 * Forward is cut three ways: the columns of y, its rows, and - for the tall w behind a convolution - the sum over i
 * into parts that are added in order at the end. Within a chunk w is read once, DEPTH rows at a time. A tall w and the
 * x before it come from memory: meanwhile the next rows of both are asked for, and as the rows of x lie so far apart
 * that they share a few sets of the caches, the columns at work are packed, a group of samples at a time. Backward is
 * dense_backward.c.
 */
#include "kernels/cpu/dense_backward.h"
#include "kernels/cpu/dense_half.h"
#include "kernels/cpu/dense_tile.h"

enum {
    COLUMNS = 128,              /* of y in a chunk, at most */
    DEPTH = 64,                 /* rows of w at a time: they wait in the first-level cache for all samples */
    TALL_DEPTH = 128,           /* the same of a tall one: in the second-level cache, a panel of them in the first */
    GROUP = 4 * TILE_ROWS,      /* samples packed at a time: they stay in the first-level cache for all columns */
    XB_PITCH = TALL_DEPTH + 16, /* floats from one to the next of these: many at a power of two share few cache sets */
    PART = 1024,                /* rows of w that are worth a part of their own */
    CHUNKS = 32,
    PANEL_LINES = PANEL / LINE /* cache lines of a panel's row */
};

typedef struct {
    int64_t n, in, out;
    int64_t column_blocks, row_blocks, parts;
    const float *x; /* [N,in] */
    const float *w; /* [in,out] */
    const float *b; /* [out] or NULL */
    float *y;       /* [N,out] */
    bool relu;
    int64_t panel_floats;
    float *panels; /* [chunk][DEPTH][PANEL]: rows of w that end before a panel does; none if panels divide out */
    float *sums;   /* [part][N,out], none if there is one part */
    size_t bytes;
} forward_plan;

static forward_plan plan_forward(const gr_call *call, void *base)
{
    const gr_dense_args *args = call->options;
    const gr_tensor *x = call->in[0], *w = call->in[1];
    forward_plan f = {.n = x->shape[0],
                      .in = w->shape[0],
                      .out = w->shape[1],
                      .x = gr__f32(x),
                      .w = gr__f32(w),
                      .b = gr__f32(call->in[2]),
                      .y = gr__f32(call->out[0]),
                      .relu = args->relu};
    f.column_blocks = ceil_div(f.out, COLUMNS);
    f.parts = max64(1, min64(f.in / PART, CHUNKS / f.column_blocks));
    f.row_blocks = max64(1, min64(f.n / 16, CHUNKS / (f.column_blocks * f.parts)));
    f.panel_floats = f.parts == 1 && f.out % PANEL ? DEPTH * PANEL : 0;
    scratch s = {.base = base};
    const int64_t chunks = f.column_blocks * f.row_blocks * f.parts;
    f.panels = scratch_take(&s, chunks * f.panel_floats);
    f.sums = scratch_take(&s, f.parts > 1 ? f.parts * f.n * f.out : 0);
    f.bytes = s.used;
    return f;
}

/* What a chunk computes: rows i of w and columns of y for samples n. */
typedef struct {
    span i, n, column;
} share;

static share share_of(const forward_plan *f, int64_t chunk)
{
    const int64_t j = chunk / (f->parts * f->row_blocks) * COLUMNS;
    return (share){.i = part_of(f->in, chunk % f->parts, f->parts),
                   .n = part_of(f->n, chunk / f->parts % f->row_blocks, f->row_blocks),
                   .column = {j, min64(f->out, j + COLUMNS)}};
}

/* The next DEPTH rows of a large w, from row `at` on; the tiles of those before it give chances to ask for them. */
static void next_rows(const forward_plan *f, const share *part, int64_t at, ahead *h)
{
    const int64_t width = part->column.end - part->column.begin;
    ahead_clear(h);
    if (f->in * f->out < PAST_CACHES)
        return; /* the processor brings them along */
    ahead_add(h, f->w + at * f->out + part->column.begin, max64(0, min64(DEPTH, f->in - at)), width, f->out);
    ahead_begin(h, ceil_div(width, PANEL) * dense_tile_chances(part->n.end - part->n.begin, DEPTH));
}

/* y[rows, columns] of one block of DEPTH rows of w; t has all that does not depend on the column. */
static void columns(const forward_plan *f, dense_tile t, span column, int64_t i, float *c, int64_t rows, float *panel,
                    bool first)
{
    float bias[PANEL] __attribute__((aligned(64))) = {0};
    for (int64_t j = column.begin; j < column.end; j += PANEL) {
        t.width = min64(PANEL, column.end - j);
        t.b = f->w + i * f->out + j;
        t.b_step = f->out;
        t.c = c + j;
        if (t.width < PANEL) {
            pack_panel(t.b, f->out, t.depth, t.width, panel);
            t.b = panel;
            t.b_step = PANEL;
        }
        if (first && f->b) {
            memcpy(bias, f->b + j, (size_t)t.width * sizeof *bias);
            t.bias = bias;
        }
        dense_tile_rows(&t, rows);
    }
}

/* All of w's rows are one part. */
static void forward_chunk(void *arg, int64_t chunk)
{
    const forward_plan *f = arg;
    const share part = share_of(f, chunk);
    ahead h;
    for (int64_t at = 0; at < f->in; at += DEPTH) {
        next_rows(f, &part, at + DEPTH, &h);
        dense_tile t = {.a = f->x + part.n.begin * f->in + at,
                        .a_row = f->in,
                        .a_step = 1,
                        .depth = min64(DEPTH, f->in - at),
                        .c_row = f->out,
                        .alpha = 1,
                        .accumulate = at > 0,
                        .relu = f->relu && at + DEPTH >= f->in,
                        .ahead = &h};
        columns(f, t, part.column, at, f->y + part.n.begin * f->out, part.n.end - part.n.begin,
                f->panels + chunk * f->panel_floats, at == 0);
    }
}

/* What is read of x and w from row `at` of w on; the tiles of the block before it give chances to ask for it. */
static void next_block(const forward_plan *f, const share *part, int64_t at, ahead *h)
{
    const int64_t depth = max64(0, min64(TALL_DEPTH, part->i.end - at)), rows = part->n.end - part->n.begin;
    const int64_t width = part->column.end - part->column.begin;
    ahead_clear(h);
    if (depth == 0)
        return; /* the last block has none behind it */
    ahead_add(h, f->w + at * f->out + part->column.begin, depth, width, f->out);
    ahead_add(h, f->x + part->n.begin * f->in + at, rows, depth, f->in);
    ahead_begin(h, ceil_div(width, PANEL) * dense_tile_chances(rows, TALL_DEPTH));
}

/*
 * A block of rows of w for all samples of a part: where they lie, or packed, [panel][TALL_DEPTH][PANEL]. A panel whose
 * rows are a cache line each, at distances of a power of two, would share a few sets of the first-level cache.
 */
typedef struct {
    const float *rows;
    int64_t step, next; /* floats from row to row, from panel to panel */
} w_block;

/* Rows of several whole panels. */
static void pack_rows(const float *w, int64_t pitch, int64_t depth, int64_t panels, float *packed)
{
    for (int64_t k = 0; k < depth; k++, w += pitch, packed += PANEL)
        for (int64_t p = 0; p < panels; p++) {
            UNROLL
            for (int64_t j = 0; j < PANEL; j += VL)
                vec_store(packed + p * TALL_DEPTH * PANEL + j, vec_load(w + p * PANEL + j));
        }
}

static w_block block_of(const forward_plan *f, span column, int64_t at, int64_t depth, float *packed)
{
    const int64_t width = column.end - column.begin, whole = width / PANEL;
    const float *w = f->w + at * f->out + column.begin;
    if (PANEL_LINES > 1 && width == f->out && width % PANEL == 0)
        return (w_block){w, f->out, PANEL};
    pack_rows(w, f->out, depth, whole, packed);
    if (width % PANEL)
        pack_panel(w + whole * PANEL, f->out, depth, width % PANEL, packed + whole * TALL_DEPTH * PANEL);
    return (w_block){packed, PANEL, TALL_DEPTH * PANEL};
}

/* Samples n of part: sums[samples][columns] (+)= x w over depth rows of w from row `at` on. */
static void tall_group(const forward_plan *f, const share *part, span n, int64_t at, int64_t depth, const w_block *w,
                       float *sums, ahead *h)
{
    float xb[GROUP * XB_PITCH] __attribute__((aligned(64)));
    for (int64_t i = n.begin; i < n.end; i++)
        copy_floats(f->x + i * f->in + at, depth, xb + (i - n.begin) * XB_PITCH);
    const float *panel = w->rows;
    for (int64_t j = part->column.begin; j < part->column.end; j += PANEL, panel += w->next) {
        const dense_tile t = {.a = xb,
                              .a_row = XB_PITCH,
                              .a_step = 1,
                              .b = panel,
                              .b_step = w->step,
                              .depth = depth,
                              .c = sums + n.begin * f->out + j,
                              .c_row = f->out,
                              .width = min64(PANEL, part->column.end - j),
                              .alpha = 1,
                              .accumulate = at > part->i.begin,
                              .ahead = h};
        dense_tile_rows(&t, n.end - n.begin);
    }
}

/* One of several parts of w's rows. */
static void tall_chunk(void *arg, int64_t chunk)
{
    const forward_plan *f = arg;
    const share part = share_of(f, chunk);
    float *sums = f->sums + chunk % f->parts * f->n * f->out;
    const int64_t samples = part.n.end - part.n.begin, groups = ceil_div(samples, GROUP);
    float packed[TALL_DEPTH * COLUMNS] __attribute__((aligned(64)));
    ahead h;
    for (int64_t at = part.i.begin; at < part.i.end; at += TALL_DEPTH) {
        const int64_t depth = min64(TALL_DEPTH, part.i.end - at);
        const w_block w = block_of(f, part.column, at, depth, packed);
        next_block(f, &part, at + TALL_DEPTH, &h);
        for (int64_t i = 0; i < groups; i++) {
            const span group = part_of(samples, i, groups);
            const span n = {part.n.begin + group.begin, part.n.begin + group.end};
            tall_group(f, &part, n, at, depth, &w, sums, &h);
        }
    }
}

/* Row n of y from the parts. */
static void combine_chunk(void *arg, int64_t n)
{
    const forward_plan *f = arg;
    for (int64_t j = 0; j < f->out; j += VL) {
        const int64_t width = min64(VL, f->out - j);
        vec v = f->b ? vec_load_n(f->b + j, width) : (vec){0};
        for (int64_t part = 0; part < f->parts; part++)
            v += vec_load_n(f->sums + (part * f->n + n) * f->out + j, width);
        vec_store_n(f->y + n * f->out + j, f->relu ? vec_relu(v) : v, width);
    }
}

void GR_CPU(dense_forward)(const gr_call *call)
{
    if (gr__is_half(call->in[0])) {
        GR_CPU(dense_half_forward)(call);
        return;
    }
    forward_plan f = plan_forward(call, call->exec->scratch);
    gr_parallel_for(call->exec, f.column_blocks * f.row_blocks * f.parts, f.parts > 1 ? tall_chunk : forward_chunk, &f);
    if (f.parts > 1)
        gr_parallel_for(call->exec, f.n, combine_chunk, &f);
}

void GR_CPU(dense_backward)(const gr_call *call)
{
    if (gr__is_half(call->in[0])) {
        GR_CPU(dense_half_backward)(call);
        return;
    }
    const gr_dense_args *args = call->options;
    const gr_tensor *w = call->in[1];
    const dense_job job = {.n = call->in[0]->shape[0],
                           .in = w->shape[0],
                           .out = w->shape[1],
                           .x = gr__f32(call->in[0]),
                           .dy = gr__f32(call->d_out[0]),
                           .y = args->relu ? gr__f32(call->out[0]) : NULL,
                           .w = gr__f32(w),
                           .dx = gr__f32(call->d_in[0]),
                           .dw = gr__f32(call->d_in[1]),
                           .db = gr__f32(call->d_in[2]),
                           .accumulate_x = call->accumulate & 1,
                           .accumulate_w = call->accumulate >> 1 & 1,
                           .accumulate_b = call->accumulate >> 2 & 1,
                           .change.use = call->d_in[1] ? DENSE_STORE : DENSE_FROZEN};
    dense_backward_run(call->exec, &job);
}

size_t GR_CPU(dense_scratch)(const gr_call *call, gr_pass pass)
{
    const gr_tensor *x = call->in[0], *w = call->in[1];
    if (gr__is_half(x))
        return GR_CPU(dense_half_scratch)(call, pass);
    return pass == GR_FORWARD ? plan_forward(call, NULL).bytes
                              : dense_backward_scratch(x->shape[0], w->shape[0], w->shape[1], DENSE_STORE);
}
