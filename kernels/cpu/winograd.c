/* winograd.c - 3x3 convolutions by F(2x2, 3x3): forward and dX, a block of tiles after the other. */
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/tile.h"

enum {
    FEW = 32,       /* channels below which the sums around the products cost more than the products saved */
    SMALLEST = 4,   /* pixels of a side; below, direct convolution leaves out as many products: those with padding */
    APART = 16,     /* floats between tiles beyond their channels: a power of two would share cache sets */
    FEW_TILES = 96, /* of the batch: below, the filters' own transformation costs more than is saved */
    TRANSPOSED = 4 * VL, /* channels of filters */
    PACK = 16            /* filters that a chunk turns round */
};

bool winograd_fits(const gr_call *call, const gr_geometry *g)
{
    const int64_t k = call->in[1]->shape[0], tiles = winograd_tiles_of(1, g->p, g->q).count;
    const bool pooled = call->n_out > 1; /* its dz is not read tile by tile */
    return g->r == 3 && g->s == 3 && g->stride_h == 1 && g->stride_w == 1 && !pooled && min64(g->c, k) >= FEW &&
           min64(g->p, g->q) >= SMALLEST && g->n * tiles >= FEW_TILES;
}

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* G w G' of nine vectors: w[tap] every `tap` floats; u[place] every `step` floats. */
INLINE void transform_filter(const float *w, int64_t tap, bool turned, int64_t width, float *u, int64_t step)
{
    vec e[4][3];
    UNROLL
    for (int s = 0; s < 3; s++) {
        vec g[3];
        UNROLL
        for (int r = 0; r < 3; r++)
            g[r] = vec_load_n(w + (turned ? 8 - (3 * r + s) : 3 * r + s) * tap, width);
        e[0][s] = g[0];
        e[1][s] = 0.5f * ((g[0] + g[2]) + g[1]);
        e[2][s] = 0.5f * ((g[0] + g[2]) - g[1]);
        e[3][s] = g[2];
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        vec_store(u + (4 * i + 0) * step, e[i][0]);
        vec_store(u + (4 * i + 1) * step, 0.5f * ((e[i][0] + e[i][2]) + e[i][1]));
        vec_store(u + (4 * i + 2) * step, 0.5f * ((e[i][0] + e[i][2]) - e[i][1]));
        vec_store(u + (4 * i + 3) * step, e[i][2]);
    }
}

typedef struct {
    const winograd_sweep *s;
    const float *w; /* [K,3,3,C] */
} filter_job;

/*
 * Chunk: a panel of filters, for y. Some channels at a time are transposed tap by tap, so that filters lie side by
 * side.
 */
static void filter_chunk(void *arg, int64_t panel)
{
    const filter_job *job = arg;
    const winograd_sweep *s = job->s;
    const int64_t step = round_up(s->channels, PANEL) * s->depth, filters = min64(PANEL, s->channels - panel * PANEL);
    float g[9][TRANSPOSED][PANEL] __attribute__((aligned(64)));
    memset(g, 0, sizeof g);
    for (int64_t first = 0; first < s->depth; first += TRANSPOSED) {
        const int64_t count = min64(TRANSPOSED, s->depth - first);
        for (int64_t tap = 0; tap < 9; tap++)
            transpose(job->w + (panel * PANEL * 9 + tap) * s->depth + first, 9 * s->depth, filters, count, g[tap][0],
                      PANEL);
        for (int64_t i = 0; i < count * PANEL; i += VL)
            transform_filter(g[0][0] + i, TRANSPOSED * PANEL, false, VL, s->w + (panel * s->depth + first) * PANEL + i,
                             step);
    }
}

/* Chunk (panel of channels, block of filters), for dX: depth runs over filters. */
static void turned_chunk(void *arg, int64_t chunk)
{
    const filter_job *job = arg;
    const winograd_sweep *s = job->s;
    const int64_t step = round_up(s->channels, PANEL) * s->depth, blocks = ceil_div(s->depth, PACK),
                  panel = chunk / blocks;
    const span filters = {chunk % blocks * PACK, min64(s->depth, (chunk % blocks + 1) * PACK)};
    for (int64_t k = filters.begin; k < filters.end; k++)
        for (int64_t c = panel * PANEL; c < (panel + 1) * PANEL; c += VL) {
            float *u = s->w + (panel * s->depth + k) * PANEL + c % PANEL;
            const int64_t width = min64(VL, s->channels - c);
            if (width > 0)
                transform_filter(job->w + k * 9 * s->channels + c, s->channels, true, width, u, step);
            for (int64_t place = 0; width <= 0 && place < PLACES; place++)
                vec_store(u + place * step, (vec){0});
        }
}

void winograd_filters(const gr_exec *exec, winograd_sweep *s, const float *w, bool turned)
{
    filter_job job = {s, w};
    if (turned)
        gr_parallel_for(exec, ceil_div(s->channels, PANEL) * ceil_div(s->depth, PACK), turned_chunk, &job);
    else
        gr_parallel_for(exec, ceil_div(s->channels, PANEL), filter_chunk, &job);
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

void winograd_sweep_plan(winograd_sweep *s, scratch *room)
{
    s->tiles = winograd_tiles_of(s->n, s->p, s->q);
    s->block = (s->depth + s->channels > 256 ? 2 : 4) * TILE_ROWS;
    s->blocks = ceil_div(s->tiles.count, s->block);
    s->in_pitch = s->depth + APART;
    s->out_pitch = s->channels + APART;
    const int64_t floats = PLACES * s->block * (s->in_pitch + s->out_pitch);
    s->chunks = conv_chunks(s->blocks, floats);
    s->w = scratch_take(room, PLACES * round_up(s->channels, PANEL) * s->depth);
    s->products = scratch_take(room, s->chunks * floats);
}

/* products[place][tile][channels] = inputs[place][tile][depth] w[place][depth][channels] */
static void multiply(const winograd_sweep *s, int64_t count, const float *inputs, float *products)
{
    const int64_t panels = ceil_div(s->channels, PANEL);
    for (int64_t i = 0; i < PLACES * panels; i++) {
        const int64_t place = i / panels, panel = i % panels;
        const tile t = {.a = inputs + place * s->block * s->in_pitch,
                        .a_row = s->in_pitch,
                        .a_step = 1,
                        .b = s->w + i * s->depth * PANEL,
                        .b_step = PANEL,
                        .depth = s->depth,
                        .segments = 1,
                        .c = products + place * s->block * s->out_pitch + panel * PANEL,
                        .c_row = s->out_pitch,
                        .width = min64(PANEL, s->channels - panel * PANEL),
                        .alpha = 1};
        tile_rows(&t, count);
    }
}

/* One result pixel, channels [c, c + width), where it lies in the image. */
INLINE void write_pixel(const winograd_sweep *s, winograd_at at, int64_t i, int64_t j, int64_t c, int64_t width, vec v)
{
    if (at.row + i >= s->p || at.col + j >= s->q)
        return;
    float *y = s->out + ((at.n * s->p + at.row + i) * s->q + at.col + j) * s->channels + c;
    if (s->bias)
        v += vec_load(s->bias + c);
    if (s->accumulate)
        v += vec_load_n(y, width);
    vec_store_n(y, s->relu ? vec_relu(v) : v, width);
}

/* A m A' of a tile, channels [c, c + width); m[place] every `step` floats. */
INLINE void write_tile(const winograd_sweep *s, winograd_at at, int64_t c, int64_t width, const float *m, int64_t step)
{
    vec e[2][4];
    UNROLL
    for (int j = 0; j < 4; j++) {
        const vec m0 = vec_load_n(m + j * step, width), m1 = vec_load_n(m + (4 + j) * step, width);
        const vec m2 = vec_load_n(m + (8 + j) * step, width), m3 = vec_load_n(m + (12 + j) * step, width);
        e[0][j] = (m0 + m1) + m2;
        e[1][j] = (m1 - m2) - m3;
    }
    UNROLL
    for (int i = 0; i < 2; i++) {
        write_pixel(s, at, i, 0, c, width, (e[i][0] + e[i][1]) + e[i][2]);
        write_pixel(s, at, i, 1, c, width, (e[i][1] - e[i][2]) - e[i][3]);
    }
}

static void sweep_chunk(void *arg, int64_t chunk)
{
    const winograd_sweep *s = arg;
    const span blocks = part_of(s->blocks, chunk, s->chunks);
    const int64_t in_step = s->block * s->in_pitch, out_step = s->block * s->out_pitch;
    float *inputs = s->products + chunk * PLACES * (in_step + out_step), *products = inputs + PLACES * in_step;
    for (int64_t first = blocks.begin * s->block; first < blocks.end * s->block; first += s->block) {
        const int64_t count = min64(s->block, s->tiles.count - first);
        for (int64_t i = 0; i < count; i++) {
            winograd_at at = winograd_tile(&s->tiles, first + i);
            at.row -= s->pad_top;
            at.col -= s->pad_left;
            for (int64_t c = 0; c < s->depth; c += VL)
                winograd_input(&s->from, at, c, min64(VL, s->depth - c), inputs + i * s->in_pitch + c, in_step);
        }
        multiply(s, count, inputs, products);
        for (int64_t i = 0; i < count; i++)
            for (int64_t c = 0; c < s->channels; c += VL)
                write_tile(s, winograd_tile(&s->tiles, first + i), c, min64(VL, s->channels - c),
                           products + i * s->out_pitch + c, out_step);
    }
}

void winograd_sweep_run(const gr_exec *exec, const winograd_sweep *s)
{
    gr_parallel_for(exec, s->chunks, sweep_chunk, (void *)s);
}
