/*
 * dense_backward.c - dX, dW or the update, and db of a dense layer, in one sweep over w.
 *
 *   dz = dy [y > 0]      dX[n,i] = sum_j dz[n,j] w[i,j]      dW[i,j] = sum_n x[n,i] dz[n,j]      db[j] = sum_n dz[n,j]
 *
 * Block by block of rows of w: its transpose is packed once for dX, or for few samples dX itself is turned, whose block
 * is smaller then; the columns of x above it are packed once for dW.
 * Meanwhile what comes next is asked for: with few samples that transfer is what takes time, with many the rows of x
 * lie so far apart that the processor does not foresee them.
 */
#include "kernels/cpu/dense_backward.h"
#include "kernels/cpu/dense_tile.h"

enum {
    BLOCK = 32,                                       /* rows of w at a time */
    TALL = 4096,                                      /* rows of a w that comes from memory */
    TALL_BLOCK = TILE_ROWS == 6 ? 8 * TILE_ROWS : 32, /* rows of that at a time: whole tiles, where they are low */
    DEPTH = 512,                                      /* columns of w that are transposed at a time: 64 KiB */
    SAMPLES = 512,                                    /* samples whose x is packed at a time: 64 KiB */
    CHUNKS = 64,
    COLUMNS = 128, /* of dz, for one chunk of its preparation */
    APART = 16     /* floats between packed samples of a tall w: many at a power of two share few cache sets */
};

typedef struct {
    dense_job job;
    int64_t pitch; /* of dz: out, rounded up to whole panels */
    int64_t block; /* rows of w */
    int64_t blocks, chunks;
    bool tall;        /* w */
    bool stream;      /* dX, past the caches */
    bool few;         /* samples, no more than a panel: a tall layer's dX is turned instead of w */
    float *dz;        /* [N][pitch], zeros behind out */
    float *dz_panels; /* [panel][N][PANEL]: the same */
    float *dz_turned; /* [pitch][PANEL]: the same of few samples */
    int64_t wt_floats, xb_pitch, xb_floats, g_floats;
    float *wt; /* [chunk][panel of rows][DEPTH][PANEL]: transposed rows of w */
    float *xb; /* [chunk][SAMPLES][xb_pitch]: columns of x */
    float *g;  /* [chunk][block][pitch]: a gradient that is not stored (Adam) */
    size_t bytes;
} plan;

static plan plan_of(int64_t n, int64_t in, int64_t out, dense_use use, void *base)
{
    plan f = {.pitch = round_up(out, PANEL), .tall = in >= TALL};
    f.block = f.tall ? TALL_BLOCK : BLOCK;
    f.blocks = ceil_div(in, f.block);
    f.chunks = min64(CHUNKS, f.blocks);
    f.few = f.tall && n <= PANEL;
    f.wt_floats = f.few ? 0 : min64(DEPTH, out) * f.block;
    f.xb_pitch = f.block + (f.tall ? APART : 0);
    f.xb_floats = min64(SAMPLES, n) * f.xb_pitch;
    f.g_floats = use == DENSE_ADAM ? f.block * f.pitch : 0;
    scratch s = {.base = base};
    f.dz = scratch_take(&s, n * f.pitch);
    f.dz_panels = scratch_take(&s, n * f.pitch);
    f.dz_turned = scratch_take(&s, f.few ? f.pitch * PANEL : 0);
    f.wt = scratch_take(&s, f.chunks * f.wt_floats);
    f.xb = scratch_take(&s, f.chunks * f.xb_floats);
    f.g = scratch_take(&s, f.chunks * f.g_floats);
    f.bytes = s.used;
    return f;
}

size_t dense_backward_scratch(int64_t n, int64_t in, int64_t out, dense_use use)
{
    return plan_of(n, in, out, use, NULL).bytes;
}

/* Columns of dz and their sums. Chunks: blocks of COLUMNS. */
static void prepare_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const dense_job *job = &f->job;
    const int64_t begin = chunk * COLUMNS, end = min64(f->pitch, begin + COLUMNS);
    for (int64_t j = begin; j < end; j += VL) {
        const int64_t width = max64(0, min64(VL, job->out - j));
        vec sum = {0};
        for (int64_t n = 0; n < job->n; n++) {
            vec v = {0};
            if (width > 0) {
                v = vec_load_n(job->dy + n * job->out + j, width);
                if (job->y)
                    v = vec_gate(vec_load_n(job->y + n * job->out + j, width), v);
            }
            vec_store(f->dz + n * f->pitch + j, v);
            vec_store(f->dz_panels + (j / PANEL * job->n + n) * PANEL + j % PANEL, v);
            sum += v;
        }
        if (job->db && width > 0)
            vec_store_n(job->db + j, job->accumulate_b ? sum + vec_load_n(job->db + j, width) : sum, width);
    }
    if (f->few)
        transpose(f->dz + begin, f->pitch, job->n, end - begin, f->dz_turned + begin * PANEL, PANEL);
}

/* A small layer lies in the caches: there is nothing to ask ahead for. */
static void tiles(const plan *f, const dense_tile *t, int64_t rows)
{
    if (f->tall) {
        dense_tile_rows(t, rows);
        return;
    }
    const tile near = {.a = t->a,
                       .a_row = t->a_row,
                       .a_step = t->a_step,
                       .b = t->b,
                       .b_step = t->b_step,
                       .depth = t->depth,
                       .segments = 1,
                       .c = t->c,
                       .c_row = t->c_row,
                       .width = t->width,
                       .alpha = t->alpha,
                       .accumulate = t->accumulate};
    tile_rows(&near, rows);
}

/* dX[., i..i+rows) */
static void block_dx(const plan *f, int64_t i, int64_t rows, float *wt, ahead *h)
{
    const dense_job *job = &f->job;
    for (int64_t j = 0; j < job->out; j += DEPTH) {
        dense_tile t = {.a = f->dz + j,
                        .a_row = f->pitch,
                        .a_step = 1,
                        .b_step = PANEL,
                        .depth = min64(DEPTH, job->out - j),
                        .c_row = job->in,
                        .alpha = 1,
                        .accumulate = job->accumulate_x || j > 0,
                        .stream = f->stream && rows % PANEL == 0,
                        .ahead = h};
        for (int64_t at = 0; at < rows; at += PANEL) {
            t.c = job->dx + i + at;
            t.width = min64(PANEL, rows - at);
            t.b = wt + at * t.depth;
            transpose(job->w + (i + at) * job->out + j, job->out, t.width, t.depth, wt + at * t.depth, PANEL);
            tiles(f, &t, job->n);
        }
    }
}

/* Some elements of a row of dX, from a buffer. */
static void store_dx(const plan *f, const float *from, float *dx, int64_t count)
{
    for (int64_t k = 0; k < count; k += VL) {
        const int64_t width = min64(VL, count - k);
        const vec v = vec_load(from + k);
        if (f->stream && count % LINE == 0)
            vec_stream(dx + k, v);
        else
            vec_store_n(dx + k, f->job.accumulate_x ? v + vec_load_n(dx + k, width) : v, width);
    }
}

/* dX[., i..i+rows) of few samples. */
static void block_dx_turned(const plan *f, int64_t i, int64_t rows, ahead *h)
{
    const dense_job *job = &f->job;
    float turned[TALL_BLOCK * PANEL] __attribute__((aligned(64))), dx[PANEL * TALL_BLOCK] __attribute__((aligned(64)));
    const dense_tile t = {.a = job->w + i * job->out,
                          .a_row = job->out,
                          .a_step = 1,
                          .b = f->dz_turned,
                          .b_step = PANEL,
                          .depth = job->out,
                          .c = turned,
                          .c_row = PANEL,
                          .width = job->n,
                          .alpha = 1,
                          .ahead = h};
    dense_tile_rows(&t, rows);
    transpose(turned, PANEL, rows, job->n, dx, TALL_BLOCK);
    for (int64_t n = 0; n < job->n; n++)
        store_dx(f, dx + n * TALL_BLOCK, job->dx + n * job->in + i, rows);
}

/* target[rows][out] (+)= alpha dW[i..i+rows) */
static void block_dw(const plan *f, int64_t i, int64_t rows, float *xb, float *target, int64_t pitch, float alpha,
                     bool accumulate, ahead *h)
{
    const dense_job *job = &f->job;
    for (int64_t n = 0; n < job->n; n += SAMPLES) {
        dense_tile t = {.a = xb,
                        .a_row = 1,
                        .a_step = f->xb_pitch,
                        .b_step = PANEL,
                        .depth = min64(SAMPLES, job->n - n),
                        .c_row = pitch,
                        .alpha = alpha,
                        .accumulate = accumulate || n > 0,
                        .ahead = h};
        for (int64_t k = 0; k < t.depth; k++)
            copy_floats(job->x + (n + k) * job->in + i, rows, xb + k * f->xb_pitch);
        for (int64_t j = 0; j < job->out; j += PANEL) {
            t.b = f->dz_panels + (j / PANEL * job->n + n) * PANEL;
            t.c = target + j;
            t.width = min64(PANEL, job->out - j);
            tiles(f, &t, rows);
        }
    }
}

static void use_dw(const plan *f, int64_t i, int64_t rows, float *xb, float *g, ahead *h)
{
    const dense_job *job = &f->job;
    const int64_t at = i * job->out;
    if (job->change.use == DENSE_STORE)
        block_dw(f, i, rows, xb, job->dw + at, job->out, 1, job->accumulate_w, h);
    else if (job->change.use == DENSE_SGD)
        block_dw(f, i, rows, xb, job->w + at, job->out, job->change.alpha, true, h);
    else if (job->change.use == DENSE_ADAM) {
        block_dw(f, i, rows, xb, g, f->pitch, job->change.alpha, false, h);
        for (int64_t r = 0; r < rows; r++, g += f->pitch) {
            const int64_t row = at + r * job->out;
            adam_row(&job->change.adam, g, job->w + row, job->change.m + row, job->change.v + row, job->out);
        }
    }
}

/* Of the block at i, the columns of x and the rows of w. */
static void list_x(const plan *f, int64_t i, ahead *h)
{
    ahead_add(h, f->job.x + i, f->job.n, max64(0, min64(f->block, f->job.in - i)), f->job.in);
}

static void list_w(const plan *f, int64_t i, ahead *h)
{
    ahead_add(h, f->job.w + i * f->job.out, max64(0, min64(f->block, f->job.in - i)), f->job.out, f->job.out);
}

/*
 * While dX of the block at i is made its x is asked for, and while that is used the w of the next one: what was asked
 * for earlier would no longer be there when it is wanted.
 */
static void ask_during_dx(const plan *f, int64_t i, ahead *h)
{
    ahead_clear(h);
    if (f->job.change.use == DENSE_FROZEN)
        list_w(f, i + f->block, h);
    else
        list_x(f, i, h);
    ahead_begin(h, f->few ? dense_tile_chances(f->block, f->job.out)
                          : ceil_div(f->block, PANEL) * dense_tile_chances(f->job.n, f->job.out));
}

static void ask_during_dw(const plan *f, int64_t i, ahead *h)
{
    ahead_clear(h);
    list_w(f, i + f->block, h);
    if (!f->job.dx)
        list_x(f, i + f->block, h);
    ahead_begin(h, ceil_div(f->job.out, PANEL) * dense_tile_chances(f->block, f->job.n));
}

static void sweep_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    ahead h;
    const span blocks = part_of(f->blocks, chunk, f->chunks);
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const int64_t i = block * f->block, rows = min64(f->block, f->job.in - i);
        if (f->tall)
            ask_during_dx(f, i, &h);
        if (f->job.dx && f->few)
            block_dx_turned(f, i, rows, &h);
        else if (f->job.dx)
            block_dx(f, i, rows, f->wt + chunk * f->wt_floats, &h);
        if (f->tall)
            ask_during_dw(f, i, &h);
        use_dw(f, i, rows, f->xb + chunk * f->xb_floats, f->g + chunk * f->g_floats, &h);
    }
}

/* Whether dX is so large that nobody will find it in a cache, and lies so that whole cache lines can be stored. */
static bool stream_dx(const dense_job *job)
{
    enum { LARGE = 4 << 20 /* floats of dX and w */ };
    return job->in >= TALL && (job->n + job->out) * job->in >= LARGE && job->out <= DEPTH && !job->accumulate_x &&
           PANEL % LINE == 0 && job->in % LINE == 0 && (uintptr_t)job->dx % (LINE * sizeof(float)) == 0;
}

void dense_backward_run(const gr_exec *exec, const dense_job *job)
{
    plan f = plan_of(job->n, job->in, job->out, job->change.use, exec->scratch);
    f.job = *job;
    f.stream = stream_dx(job);
    gr_parallel_for(exec, ceil_div(f.pitch, COLUMNS), prepare_chunk, &f);
    if (job->dx || job->change.use != DENSE_FROZEN)
        gr_parallel_for(exec, f.chunks, sweep_chunk, &f);
}
