/*
 * windows.c - poolings, a vector of channels at a time.
 *
 * max_pool2d: forward takes rows of outputs as chunks. Backward takes blocks of channels of an image: its windows are
 * visited in order, so gradients that meet in one element are added in a fixed order. Halves are widened in registers;
 * where windows overlap they are left to the caller, as a sum of several of them would be rounded each time.
 *
 * global_avg_pool: the mean of each channel of an image, one image a chunk.
 */
#include "kernels/cpu/any_float.h"
#include "kernels/cpu/pooling.h"

enum { CHUNKS = 32, CHANNELS = 64 /* of a chunk of backward, where images are few */ };

typedef struct {
    gr_geometry g;
    int64_t units, chunks, channel_blocks;
    gr_type type;
    const void *x;   /* [N,H,W,C] */
    void *y;         /* [N,P,Q,C] */
    uint8_t *argmax; /* [N,P,Q,C] or NULL */
    const void *dy;  /* [N,P,Q,C] */
    void *dx;        /* [N,H,W,C] */
    bool accumulate;
    bool apart; /* no two windows share an element */
} max_plan;

static max_plan max_plan_of(const gr_call *call)
{
    const gr_max_pool2d_args *args = call->options;
    const gr_geometry g = gr__geometry(call->in[0], args->size[0], args->size[1], &args->window, true);
    return (max_plan){.g = g,
                      .apart = g.stride_h >= g.r && g.stride_w >= g.s,
                      .type = call->in[0]->type,
                      .x = call->in[0]->data,
                      .y = data_of(call->out[0]),
                      .argmax = gr__u8(call->out[1]),
                      .dy = data_of(call->d_out[0]),
                      .dx = data_of(call->d_in[0]),
                      .accumulate = call->accumulate & 1};
}

bool GR_CPU(max_pool2d_halves)(const gr_call *call, gr_pass pass)
{
    return gr__halves_by_type(&gr__ops[GR_OP_max_pool2d], call, pass) &&
           (pass == GR_FORWARD || max_plan_of(call).apart);
}

/* One output pixel: taps u x v of its window. */
INLINE void pool_pixel(const max_plan *f, gr_type type, int64_t n, int64_t p, int64_t q, span u, span v)
{
    const gr_geometry *g = &f->g;
    const int64_t h = p * g->stride_h - g->pad_top, w = q * g->stride_w - g->pad_left;
    const int64_t at = ((n * g->p + p) * g->q + q) * g->c;
    for (int64_t c = 0; c < g->c; c += VL) {
        const int64_t width = min64(VL, g->c - c);
        best b = {vec_all(-INFINITY), ivec_all(NOWHERE)};
        for (int64_t r = u.begin; r < u.end; r++)
            for (int64_t s = v.begin; s < v.end; s++) {
                const vec x = load_as_n(type, f->x, ((n * g->h + h + r) * g->w + w + s) * g->c + c, width);
                if (r == u.begin && s == v.begin)
                    b = (best){x, ivec_all((int)(r * g->s + s))}; /* wins even if it is -infinity */
                else
                    compete(&b, x, (int)(r * g->s + s));
            }
        store_as_n(type, f->y, at + c, b.value, width);
        if (f->argmax)
            write_place(&b, f->argmax + at + c, width);
    }
}

INLINE void maxima(const max_plan *f, gr_type type, int64_t chunk)
{
    const gr_geometry *g = &f->g;
    const span units = part_of(f->units, chunk, f->chunks);
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        const int64_t n = unit / g->p, p = unit % g->p;
        const span u = taps_inside(p, g->stride_h, g->pad_top, g->r, g->h);
        for (int64_t q = 0; q < g->q; q++)
            pool_pixel(f, type, n, p, q, u, taps_inside(q, g->stride_w, g->pad_left, g->s, g->w));
    }
}
BY_TYPE(max_plan, maxima)

void GR_CPU(max_pool2d_forward)(const gr_call *call)
{
    max_plan f = max_plan_of(call);
    f.units = f.g.n * f.g.p;
    f.chunks = min64(f.units, CHUNKS);
    gr_parallel_for(call->exec, f.chunks, maxima_chunk, &f);
}

/* The n (1..VL) elements of dY whose place is this one, and zeros: written where nothing is there yet, else added. */
INLINE void give_share(const max_plan *f, gr_type type, int64_t from, int64_t to, int place, int64_t n, bool adds)
{
    if (type != GR_F32 && !adds) { /* halves go as they are */
        const hvec wins = (hvec)(hvec_from_bytes_n(f->argmax + from, n) == (uint16_t)place);
        hvec_store_n((uint16_t *)f->dx + to, hvec_load_n((const uint16_t *)f->dy + from, n) & wins, n);
        return;
    }
    uint8_t places[VL] = {0};
    memcpy(places, f->argmax + from, (size_t)n);
    const vec dy = load_as_n(type, f->dy, from, n);
    const vec share = vec_select(ivec_equal(ivec_from_bytes(places), place), dy, (vec){0});
    store_as_n(type, f->dx, to, adds ? load_as_n(type, f->dx, to, n) + share : share, n);
}

/* Hands one output pixel's dY on to the elements that won, for channels [c, end). */
INLINE void unpool_pixel(const max_plan *f, gr_type type, int64_t n, int64_t p, int64_t q, span channels, bool adds)
{
    const gr_geometry *g = &f->g;
    const int64_t from = ((n * g->p + p) * g->q + q) * g->c;
    const span u = taps_inside(p, g->stride_h, g->pad_top, g->r, g->h);
    const span v = taps_inside(q, g->stride_w, g->pad_left, g->s, g->w);
    for (int64_t r = u.begin; r < u.end; r++)
        for (int64_t s = v.begin; s < v.end; s++) {
            const int64_t h = p * g->stride_h - g->pad_top + r, w = q * g->stride_w - g->pad_left + s;
            const int64_t to = ((n * g->h + h) * g->w + w) * g->c;
            for (int64_t c = channels.begin; c < channels.end; c += VL)
                give_share(f, type, from + c, to + c, (int)(r * g->s + s), min64(VL, channels.end - c), adds);
        }
}

/* Zeros for columns [first, W) of row h of an image. */
static void clear_columns(const max_plan *f, int64_t n, int64_t h, int64_t first, span channels)
{
    const gr_geometry *g = &f->g;
    const size_t size = gr_type_size(f->type);
    for (int64_t w = first; w < g->w; w++)
        memset((char *)f->dx + (size_t)(((n * g->h + h) * g->w + w) * g->c + channels.begin) * size, 0,
               (size_t)(channels.end - channels.begin) * size);
}

/* Zeros where no window will write, or where several will add. */
static void clear_rest(const max_plan *f, int64_t n, span channels)
{
    const gr_geometry *g = &f->g;
    const bool side_by_side = f->apart && g->stride_h == g->r && g->stride_w == g->s;
    const int64_t rows = side_by_side ? g->p * g->r - g->pad_top : 0, columns = g->q * g->s - g->pad_left;
    for (int64_t h = 0; h < g->h; h++)
        clear_columns(f, n, h, h < rows ? columns : 0, channels);
}

INLINE void unpool(const max_plan *f, gr_type type, int64_t chunk)
{
    const gr_geometry *g = &f->g;
    const int64_t n = chunk / f->channel_blocks;
    const span channels = part_of(g->c, chunk % f->channel_blocks, f->channel_blocks);
    const bool adds = f->accumulate || !f->apart;
    if (!f->accumulate)
        clear_rest(f, n, channels);
    for (int64_t p = 0; p < g->p; p++)
        for (int64_t q = 0; q < g->q; q++)
            if (adds)
                unpool_pixel(f, type, n, p, q, channels, true);
            else
                unpool_pixel(f, type, n, p, q, channels, false);
}
BY_TYPE(max_plan, unpool)

void GR_CPU(max_pool2d_backward)(const gr_call *call)
{
    max_plan f = max_plan_of(call);
    f.channel_blocks = f.g.n < CHUNKS ? ceil_div(f.g.c, CHANNELS) : 1;
    if (f.dx)
        gr_parallel_for(call->exec, f.g.n * f.channel_blocks, unpool_chunk, &f);
}

typedef struct {
    int64_t P, C;        /* pixels of an image, channels */
    const float *x, *dy; /* [N,P,C], [N,C] */
    float *y, *dx;       /* [N,C], [N,P,C] */
    bool accumulate;
} mean_plan;

static mean_plan mean_plan_of(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape;
    return (mean_plan){.P = shape[1] * shape[2],
                       .C = shape[3],
                       .x = gr__f32(call->in[0]),
                       .y = gr__f32(call->out[0]),
                       .dy = gr__f32(call->d_out[0]),
                       .dx = gr__f32(call->d_in[0]),
                       .accumulate = call->accumulate & 1};
}

INLINE void mean(const mean_plan *f, int64_t n, int64_t c, int64_t width)
{
    vec sum = {0};
    for (int64_t i = 0; i < f->P; i++)
        sum += vec_load_n(f->x + (n * f->P + i) * f->C + c, width);
    vec_store_n(f->y + n * f->C + c, sum / (float)f->P, width);
}

static void mean_image(void *arg, int64_t n)
{
    const mean_plan *f = arg;
    int64_t c = 0;
    for (; c + VL <= f->C; c += VL)
        mean(f, n, c, VL);
    if (c < f->C)
        mean(f, n, c, f->C - c);
}

void GR_CPU(global_avg_pool_forward)(const gr_call *call)
{
    mean_plan f = mean_plan_of(call);
    gr_parallel_for(call->exec, call->in[0]->shape[0], mean_image, &f);
}

INLINE void spread(const mean_plan *f, int64_t n, int64_t c, int64_t width)
{
    const vec share = vec_load_n(f->dy + n * f->C + c, width) / (float)f->P;
    for (int64_t i = 0; i < f->P; i++) {
        float *dx = f->dx + (n * f->P + i) * f->C + c;
        vec_store_n(dx, f->accumulate ? vec_load_n(dx, width) + share : share, width);
    }
}

static void spread_image(void *arg, int64_t n)
{
    const mean_plan *f = arg;
    int64_t c = 0;
    for (; c + VL <= f->C; c += VL)
        spread(f, n, c, VL);
    if (c < f->C)
        spread(f, n, c, f->C - c);
}

void GR_CPU(global_avg_pool_backward)(const gr_call *call)
{
    mean_plan f = mean_plan_of(call);
    if (f.dx)
        gr_parallel_for(call->exec, call->in[0]->shape[0], spread_image, &f);
}
