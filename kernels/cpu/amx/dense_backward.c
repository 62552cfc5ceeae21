/*
 * dense_backward.c - dX, dW or the update, and db of a dense layer, in one sweep over w.
 *
 *   dz = dy [y > 0]      dX[n,i] = sum_j dz[n,j] w[i,j]      dW[i,j] = sum_n x[n,i] dz[n,j]      db[j] = sum_n dz[n,j]
 *
 * Both products have the rows of w as their own: w itself is the left factor of dX turned, and x turned is that of dW.
 * dz, which all rows meet, is laid out as the right factor of both once. So a block of rows is rounded, its products
 * are made, and what it does to w is done, while it is in the cache.
 */
#include "kernels/cpu/ahead.h"
#include "kernels/cpu/amx/dense.h"
#include "kernels/cpu/amx/product.h"
#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/amx/turn.h"
#include "kernels/cpu/amx/weights.h"

enum { CHUNKS = 64 };

typedef struct {
    tiled_dense job;
    int64_t panels_n, panels_j; /* blocks of samples, of outputs: a step of one product, a panel of the other */
    int64_t blocks, chunks;
    bool stream;  /* dX, past the caches */
    int64_t asks; /* chances to ask for the next block: a row that is rounded, a row that is used */
    int64_t dz_halves, wb_halves, xb_halves, g_floats; /* of a piece; floats of a chunk */
    uint16_t *dz_of_j; /* [piece][panel of samples][step of outputs][B_STEP], zeros behind */
    uint16_t *dz_of_n; /* [piece][panel of outputs][step of samples][B_STEP], likewise */
    uint16_t *wb;      /* [chunk][piece][BLOCK][outputs]: a block of w, rounded */
    uint16_t *xb;      /* [chunk][piece][BLOCK][samples]: what x has of it, turned */
    float *g;          /* [chunk][BLOCK][outputs]: its dW */
    size_t bytes;
} plan;

static plan plan_of(int pieces, int64_t n, int64_t in, int64_t out, void *base)
{
    plan f = {.panels_n = ceil_div(n, BLOCK), .panels_j = ceil_div(out, BLOCK), .blocks = ceil_div(in, BLOCK)};
    f.chunks = min64(CHUNKS, f.blocks);
    f.wb_halves = f.g_floats = BLOCK * BLOCK * f.panels_j;
    f.xb_halves = BLOCK * BLOCK * f.panels_n;
    f.dz_halves = f.panels_n * f.panels_j * B_STEP;
    scratch s = {.base = base};
    f.dz_of_j = scratch_halves(&s, pieces * f.dz_halves);
    f.dz_of_n = scratch_halves(&s, pieces * f.dz_halves);
    f.wb = scratch_halves(&s, f.chunks * pieces * f.wb_halves);
    f.xb = scratch_halves(&s, f.chunks * pieces * f.xb_halves);
    f.g = scratch_take(&s, f.chunks * f.g_floats);
    f.bytes = s.used;
    return f;
}

size_t GR_TILED(dense_sweep_scratch)(int pieces, int64_t n, int64_t in, int64_t out)
{
    return plan_of(pieces, n, in, out, NULL).bytes;
}

/* --- dz ----------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint16_t of[MOST_PIECES][BLOCK][BLOCK] __attribute__((aligned(64)));
} dz_block;

/* n elements of dz from `at` on as row k of a block, zeros behind; they are added to db[BLOCK]. */
INLINE void read_halves(const tiled_dense *job, int64_t at, int64_t n, int64_t k, dz_block *dz, float *db)
{
    uint16_t *row = dz->of[0][k];
    step_copy((const uint16_t *)job->dy + at, row, n);
    if (job->y)
        halves_gate((const uint16_t *)job->y + at, row, n);
    for (int64_t v = 0; v < BLOCK; v += VL)
        vec_store(db + v, vec_load(db + v) + from_bf16(row + v));
}

INLINE void read_floats(const tiled_dense *job, int64_t at, int64_t n, int64_t k, dz_block *dz, float *db)
{
    for (int64_t i = 0; i < BLOCK; i += VL) {
        const int64_t some = max64(0, min64(VL, n - i));
        vec v = vec_load_n((const float *)job->dy + at + i, some);
        if (job->y)
            v = vec_gate(vec_load_n((const float *)job->y + at + i, some), v);
        vec_store(db + i, vec_load(db + i) + v);
        split(v, job->pieces, dz->of[0][k] + i, BLOCK * BLOCK);
    }
}

/* dz of BLOCK samples and outputs, zeros behind the last of either; its sums are added to db[BLOCK]. */
static void read_dz(const tiled_dense *job, int64_t n, int64_t j, dz_block *dz, float *db)
{
    for (int64_t k = 0; k < BLOCK; k++) {
        const int64_t some = n + k < job->n ? min64(BLOCK, job->out - j) : 0, at = some ? (n + k) * job->out + j : 0;
        if (job->pieces > 1)
            read_floats(job, at, some, k, dz, db);
        else
            read_halves(job, at, some, k, dz, db);
    }
}

/* A block of a piece as a step of both products. */
static void lay_out(uint16_t dz[BLOCK][BLOCK], uint16_t *pairs, uint16_t *turned)
{
    for (int64_t pair = 0; pair < TILE; pair++, pairs += STEP) {
        pair_up(dz[2 * pair], dz[2 * pair + 1], pairs, TILE);
        pair_up(dz[2 * pair] + TILE, dz[2 * pair + 1] + TILE, pairs + B_STEP / 2, TILE);
    }
    transpose((const float *)dz[0], TILE, TILE, TILE, (float *)turned, TILE);
    transpose((const float *)dz[TILE], TILE, TILE, TILE, (float *)(turned + B_STEP / 2), TILE);
}

/* Chunk: a panel of outputs, laid out both ways. */
static void prepare_chunk(void *arg, int64_t panel)
{
    const plan *f = arg;
    const int64_t j = panel * BLOCK, width = min64(BLOCK, f->job.out - j);
    float db[BLOCK] = {0};
    for (int64_t of_n = 0; of_n < f->panels_n; of_n++) {
        dz_block dz;
        uint16_t *pairs = f->dz_of_n + (panel * f->panels_n + of_n) * B_STEP;
        uint16_t *turned = f->dz_of_j + (of_n * f->panels_j + panel) * B_STEP;
        read_dz(&f->job, of_n * BLOCK, j, &dz, db);
        for (int i = 0; i < f->job.pieces; i++)
            lay_out(dz.of[i], pairs + i * f->dz_halves, turned + i * f->dz_halves);
    }
    for (int64_t i = 0; f->job.db && i < width; i++)
        f->job.db[j + i] = f->job.accumulate_b ? f->job.db[j + i] + db[i] : db[i];
}

/* --- a block of rows of w ----------------------------------------------------------------------------------------- */

/* a b, of so many steps, that is still to be told where it goes; a[piece][BLOCK][steps][STEP] */
static tile_product product_of(const plan *f, const uint16_t *a, int64_t rows, int64_t steps, const uint16_t *b)
{
    static const int64_t at_once[] = {0};
    return (tile_product){.a = {a, rows > TILE ? a + TILE * steps * STEP : NULL},
                          .a_row = steps * STEP,
                          .a_step = STEP,
                          .offsets = at_once,
                          .taps = 1,
                          .steps = steps,
                          .b = b,
                          .pieces = f->job.pieces,
                          .a_piece = BLOCK * steps * STEP,
                          .b_piece = f->dz_halves};
}

/* Some columns of a matrix from a row and a column on; one whose rows are no whole floats is left to the processor. */
INLINE void list_piece(ahead *h, const void *data, gr_type type, int64_t row, int64_t column, int64_t rows,
                       int64_t columns, int64_t pitch)
{
    const int64_t size = (int64_t)gr_type_size(type), of_float = sizeof(float) / size;
    if (pitch % of_float == 0)
        ahead_add(h, (const float *)((const char *)data + (row * pitch + column) * size), rows,
                  ceil_div(columns, of_float), pitch / of_float);
}

/*
 * Lists what the rows from i on need of w and x. x lies in columns, of which a run of cache lines has those of several
 * blocks: they are listed with the first of these.
 */
static void list_ahead(const plan *f, int64_t i, ahead *h)
{
    const tiled_dense *job = &f->job;
    const gr_type type = job->pieces > 1 ? GR_F32 : GR_BF16;
    const int64_t rows = max64(0, min64(BLOCK, job->in - i)),
                  columns = RUN * LINE * (int64_t)(sizeof(float) / gr_type_size(type));
    ahead_clear(h);
    list_piece(h, job->w->data, job->w->type, i, 0, rows, job->out, job->out);
    if (rows > 0 && i % columns == 0)
        list_piece(h, job->x, type, 0, i, job->n, columns, job->in);
    ahead_begin(h, f->asks);
}

/* alpha g, or that more than what is there */
INLINE vec added(vec g, vec there, float alpha, bool adds)
{
    return adds ? alpha * g + there : alpha * g;
}

/* to[0..n) += alpha g, or = it */
INLINE void add_row(float *to, const float *g, int64_t n, float alpha, bool adds)
{
    int64_t j = 0;
    for (; j + VL <= n; j += VL)
        vec_store(to + j, added(vec_load(g + j), vec_load(to + j), alpha, adds));
    if (j < n)
        vec_store_n(to + j, added(vec_load_n(g + j, n - j), vec_load_n(to + j, n - j), alpha, adds), n - j);
}

/* A row of dX, with or without what stood there. */
INLINE void store_halves(const plan *f, const float *dx, uint16_t *to, int64_t rows)
{
    uint16_t line[BLOCK] __attribute__((aligned(64)));
    for (int64_t v = 0; v < rows; v += VL) {
        const vec old = f->job.accumulate_x ? of_bf16(hvec_load_n(to + v, min64(VL, rows - v))) : (vec){0};
        to_bf16(line + v, old + vec_load(dx + v));
    }
    if (f->stream)
        for (int64_t v = 0; v < BLOCK; v += 2 * VL)
            vec_stream((float *)(to + v), vec_load((const float *)(line + v)));
    else
        halves_copy(line, to, rows);
}

INLINE void store_floats(const plan *f, const float *dx, float *to, int64_t rows)
{
    if (f->stream)
        for (int64_t v = 0; v < BLOCK; v += VL)
            vec_stream(to + v, vec_load(dx + v));
    else
        add_row(to, dx, rows, 1, f->job.accumulate_x);
}

/* dX[n][i..i+rows) of samples from n on, up to BLOCK; turned[row][sample] */
static void store_dx(const plan *f, int64_t n, int64_t i, int64_t rows, const float *turned)
{
    const tiled_dense *job = &f->job;
    const int64_t samples = min64(BLOCK, job->n - n);
    float dx[BLOCK * BLOCK] __attribute__((aligned(64)));
    transpose(turned, BLOCK, BLOCK, samples > TILE ? BLOCK : TILE, dx, BLOCK);
    for (int64_t k = 0; k < samples; k++) {
        const int64_t at = (n + k) * job->in + i;
        if (job->pieces > 1)
            store_floats(f, dx + k * BLOCK, (float *)job->dx + at, rows);
        else
            store_halves(f, dx + k * BLOCK, (uint16_t *)job->dx + at, rows);
    }
}

/* dX[., i..i+rows) */
static void block_dx(const plan *f, int64_t i, int64_t rows, uint16_t *wb, ahead *h)
{
    const tiled_dense *job = &f->job;
    const int64_t width = f->panels_j * BLOCK;
    for (int64_t k = 0; k < BLOCK; k++) {
        ahead_ask(h);
        weights_row(job->w, k < rows ? (i + k) * job->out : 0, k < rows ? job->out : 0, wb + k * width, width,
                    job->pieces, f->wb_halves);
    }
    for (int64_t panel = 0; panel < f->panels_n; panel++) {
        float turned[BLOCK * BLOCK] __attribute__((aligned(64)));
        tile_product product = product_of(f, wb, rows, f->panels_j, f->dz_of_j + panel * f->panels_j * B_STEP);
        product.c = turned, product.c_row = BLOCK;
        product.narrow = job->n - panel * BLOCK <= TILE;
        tile_product_run(&product);
        store_dx(f, panel * BLOCK, i, rows, turned);
    }
}

/* g[rows][outputs] = dW[i..i+rows) */
static void block_dw(const plan *f, int64_t i, int64_t rows, uint16_t *xb, float *g)
{
    const tiled_dense *job = &f->job;
    for (int64_t step = 0; step < f->panels_n; step++) {
        uint16_t x[MOST_PIECES][STEP][STEP] __attribute__((aligned(64)));
        for (int64_t k = 0; k < STEP; k++) {
            const int64_t n = step * STEP + k, at = n < job->n ? n * job->in + i : 0, some = n < job->n ? rows : 0;
            if (job->pieces > 1)
                step_split((const float *)job->x + at, NULL, some, job->pieces, x[0][k], STEP * STEP);
            else
                step_copy((const uint16_t *)job->x + at, x[0][k], some);
        }
        for (int p = 0; p < job->pieces; p++)
            turn(x[p][0], xb + p * f->xb_halves + step * STEP, f->panels_n * STEP);
    }
    for (int64_t panel = 0; panel < f->panels_j; panel++) {
        tile_product product = product_of(f, xb, rows, f->panels_n, f->dz_of_n + panel * f->panels_n * B_STEP);
        product.c = g + panel * BLOCK, product.c_row = f->panels_j * BLOCK;
        product.zeros = (f->panels_n * BLOCK - job->n) / 2;
        tile_product_run(&product);
    }
}

static void use_dw(const plan *f, int64_t i, int64_t rows, float *g, ahead *h)
{
    const tiled_dense *job = &f->job;
    for (int64_t k = 0; k < rows; k++, g += f->panels_j * BLOCK) {
        const int64_t at = (i + k) * job->out;
        float *w = job->w->data;
        ahead_ask(h);
        if (job->change.use == DENSE_STORE)
            add_row(job->dw + at, g, job->out, 1, job->accumulate_w);
        else if (job->change.use == DENSE_SGD)
            add_row(w + at, g, job->out, job->change.alpha, true);
        else {
            add_row(g, g, job->out, job->change.alpha, false);
            adam_row(&job->change.adam, g, w + at, job->change.m + at, job->change.v + at, job->out);
        }
    }
}

static void sweep_chunk(void *arg, int64_t chunk)
{
    const plan *f = arg;
    const span blocks = part_of(f->blocks, chunk, f->chunks);
    float *g = f->g + chunk * f->g_floats;
    ahead h;
    tiles_begin();
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const int64_t i = block * BLOCK, rows = min64(BLOCK, f->job.in - i);
        list_ahead(f, i + BLOCK, &h);
        if (f->job.dx)
            block_dx(f, i, rows, f->wb + chunk * f->job.pieces * f->wb_halves, &h);
        if (f->job.change.use == DENSE_FROZEN)
            continue;
        block_dw(f, i, rows, f->xb + chunk * f->job.pieces * f->xb_halves, g);
        use_dw(f, i, rows, g, &h);
    }
    tiles_end();
}

/* Whether dX is so large that nobody will find it in a cache, and lies so that whole cache lines can be stored. */
static bool stream_dx(const tiled_dense *job)
{
    enum { LARGE = 8 << 20 /* elements of dX and w */ };
    return (job->n + job->out) * job->in >= LARGE && !job->accumulate_x && job->in % BLOCK == 0 &&
           (uintptr_t)job->dx % (LINE * sizeof(float)) == 0;
}

void GR_TILED(dense_sweep_run)(const gr_exec *exec, const tiled_dense *job)
{
    plan f = plan_of(job->pieces, job->n, job->in, job->out, exec->scratch);
    f.job = *job;
    f.stream = stream_dx(job);
    f.asks = job->dx && job->change.use != DENSE_FROZEN ? 2 * BLOCK : BLOCK;
    gr_parallel_for(exec, f.panels_j, prepare_chunk, &f);
    if (job->dx || job->change.use != DENSE_FROZEN)
        gr_parallel_for(exec, f.chunks, sweep_chunk, &f);
}
