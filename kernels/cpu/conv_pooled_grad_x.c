/*
 * conv_pooled_grad_x.c - dX from the winners of pooling windows, see conv_pooled.h.
 *
 * A chunk is some images, one after the other. The winners of some rows of windows are listed by window and place. Then
 * for one vector of channels after the other, whose filters stay in the first-level cache, each window's 4x4 pixels of
 * dX are summed in registers and added to the image; where there are 16 registers, the 3x4 pixels under either row of
 * its places. Windows overlap by two pixels, so the order is fixed: rows of windows, channels, columns.
 */
#include "kernels/cpu/conv_pooled.h"

enum {
    IMAGE_CHUNKS = 16,
    LISTED = 1 << 14, /* winners listed at a time, 128 KiB, or as many as a row of windows may have */
#ifdef TALL_TILES
    PLACE_ROWS = 2, /* of a window, whose pixels of dX are summed at once: 16 sums */
#else
    PLACE_ROWS = 1, /* 12 sums and a factor in 16 registers */
#endif
    PATCH_ROWS = POOL_TAPS - 1 + PLACE_ROWS
};

typedef struct {
    gr_geometry g;
    const conv_dz *dz;
    int64_t panels; /* vectors of channels */
    int64_t rows;   /* of windows whose winners are listed at a time */
    int64_t room;   /* of a list: for one more vector than there are filters */
    const float *w; /* [K,3,3,C] */
    float *packed;  /* [panel][K][9][VL] */
    int64_t chunks;
    winner *lists;     /* [chunk][rows][q][place][room] */
    int32_t *counts;   /* [chunk][rows][q][place] */
    int64_t list_room; /* winners of a chunk's lists */
    float *dx;         /* [N,H,W,C] */
    bool accumulate;
    size_t bytes;
} grad_x_plan;

bool conv_pooled_grad_x_fits(const gr_geometry *g, const conv_dz *dz)
{
    return conv_pooled(g, &dz->pool) && g->c % VL == 0;
}

static grad_x_plan plan(const gr_call *call, const gr_geometry *g, const conv_dz *dz, void *base)
{
    const gr_geometry *o = &dz->pool;
    grad_x_plan f = {.g = *g,
                     .dz = dz,
                     .panels = g->c / VL,
                     .chunks = min64(g->n, IMAGE_CHUNKS),
                     .w = gr__f32(call->in[1]),
                     .dx = gr__f32(call->d_in[0]),
                     .accumulate = call->accumulate & 1};
    f.room = dz->k + LONGEST;
    f.rows = max64(1, min64(o->p, LISTED / (o->q * POOL_PLACES * f.room)));
    f.list_room = f.rows * o->q * POOL_PLACES * f.room;
    scratch s = {.base = base};
    f.packed = scratch_take(&s, f.panels * dz->k * POOL_TAPS * POOL_TAPS * VL);
    f.lists = (winner *)scratch_take(&s, f.chunks * f.list_room * (int64_t)(sizeof(winner) / sizeof(float)));
    f.counts = (int32_t *)scratch_take(&s, f.chunks * f.rows * o->q * POOL_PLACES);
    f.bytes = s.used;
    return f;
}

/* Chunk: a vector of channels. */
static void pack_chunk(void *arg, int64_t panel)
{
    const grad_x_plan *f = arg;
    const int64_t taps = f->dz->k * POOL_TAPS * POOL_TAPS;
    for (int64_t i = 0; i < taps; i++)
        vec_store(f->packed + (panel * taps + i) * VL, vec_load(f->w + i * f->g.c + panel * VL));
}

enum { FILTER = POOL_TAPS * POOL_TAPS * VL }; /* floats of a filter in a panel */

/* Adds those of up to VL filters from k on that won to the lists of their places. */
#if defined(__AVX512F__)
static void list_filters(const grad_x_plan *f, int64_t k, int64_t filters, const float *dy, const uint8_t *argmax,
                         winner *list, int32_t *n)
{
    const ivec lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const ivec place = conv_pooled_places(argmax, filters), at = (int32_t)k * FILTER + lanes * FILTER;
    UNROLL
    for (int p = 0; p < POOL_PLACES; p++)
        n[p] += vec_store_pairs(&list[p * f->room + n[p]].dy, ivec_equal(place, p), vec_load_n(dy, filters), (vec)at);
}
#else
static void list_filters(const grad_x_plan *f, int64_t k, int64_t filters, const float *dy, const uint8_t *argmax,
                         winner *list, int32_t *n)
{
    for (int64_t i = 0; i < filters; i++)
        if (argmax[i] < POOL_PLACES)
            list[argmax[i] * f->room + n[argmax[i]]++] = (winner){dy[i], (int32_t)((k + i) * FILTER)};
}
#endif

/* Lists the winners of a window by place; at: where their filters begin in a panel. */
static void list_window(const grad_x_plan *f, int64_t window, winner *list, int32_t *count)
{
    const int64_t K = f->dz->k, first = window * K;
    int32_t n[POOL_PLACES] = {0};
    for (int64_t k = 0; k < K; k += VL)
        list_filters(f, k, min64(VL, K - k), f->dz->dy + first + k, f->dz->argmax + first + k, list, n);
    memcpy(count, n, sizeof n);
}

/* patch[.][4] += dy w[r][s] of the filters that won at place u, v of those summed at once. */
INLINE void add_place(vec *patch, const winner *list, int32_t n, const float *w, const int u, const int v)
{
    for (int32_t i = 0; i < n; i++) {
        const vec dy = vec_all(list[i].dy);
        const float *filter = w + list[i].at;
        UNROLL
        for (int t = 0; t < POOL_TAPS * POOL_TAPS; t++)
            patch[(u + t / POOL_TAPS) * POOL_PATCH + v + t % POOL_TAPS] += dy * vec_load(filter + t * VL);
    }
}

/* Adds what the winners of PLACE_ROWS rows of places say to VL channels of dx[H,W,C], from pixel (h, col) on. */
static void add_places(const grad_x_plan *f, const winner *list, const int32_t *count, const float *w, int64_t h,
                       int64_t col, float *dx)
{
    const gr_geometry *g = &f->g;
    vec patch[PATCH_ROWS * POOL_PATCH] = {{0}};
    add_place(patch, list, count[0], w, 0, 0);
    add_place(patch, list + f->room, count[1], w, 0, 1);
    if (PLACE_ROWS == 2) {
        add_place(patch, list + 2 * f->room, count[2], w, 1, 0);
        add_place(patch, list + 3 * f->room, count[3], w, 1, 1);
    }
    UNROLL
    for (int t = 0; t < PATCH_ROWS * POOL_PATCH; t++) {
        const int64_t row = h + t / POOL_PATCH, at = col + t % POOL_PATCH;
        if (row < 0 || row >= g->h || at < 0 || at >= g->w)
            continue;
        float *to = dx + (row * g->w + at) * g->c;
        vec_store(to, vec_load(to) + patch[t]);
    }
}

/* The same for all of window (i, j). */
static void add_window(const grad_x_plan *f, const winner *list, const int32_t *count, const float *w, int64_t i,
                       int64_t j, float *dx)
{
    for (int u = 0; u < 2; u += PLACE_ROWS)
        add_places(f, list + 2 * u * f->room, count + 2 * u, w, 2 * i + u - f->g.pad_top, 2 * j - f->g.pad_left, dx);
}

static void add_image(const grad_x_plan *f, int64_t n, winner *lists, int32_t *counts)
{
    const gr_geometry *g = &f->g, *o = &f->dz->pool;
    const int64_t image = g->h * g->w * g->c;
    float *dx = f->dx + n * image;
    if (!f->accumulate)
        memset(dx, 0, (size_t)image * sizeof *dx);
    for (int64_t first = 0; first < o->p; first += f->rows) {
        const int64_t windows = min64(f->rows, o->p - first) * o->q;
        for (int64_t i = 0; i < windows; i++)
            list_window(f, (n * o->p + first) * o->q + i, lists + i * POOL_PLACES * f->room, counts + i * POOL_PLACES);
        for (int64_t panel = 0; panel < f->panels; panel++)
            for (int64_t i = 0; i < windows; i++)
                add_window(f, lists + i * POOL_PLACES * f->room, counts + i * POOL_PLACES,
                           f->packed + panel * f->dz->k * FILTER, first + i / o->q, i % o->q, dx + panel * VL);
    }
}

static void images_chunk(void *arg, int64_t chunk)
{
    const grad_x_plan *f = arg;
    const span images = part_of(f->g.n, chunk, f->chunks);
    for (int64_t n = images.begin; n < images.end; n++)
        add_image(f, n, f->lists + chunk * f->list_room, f->counts + chunk * f->rows * f->dz->pool.q * POOL_PLACES);
}

void conv_pooled_grad_x(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    grad_x_plan f = plan(call, g, dz, call->exec->scratch);
    gr_parallel_for(call->exec, f.panels, pack_chunk, &f);
    gr_parallel_for(call->exec, f.chunks, images_chunk, &f);
}

size_t conv_pooled_grad_x_scratch(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    return plan(call, g, dz, NULL).bytes;
}
