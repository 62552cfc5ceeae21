/*
 * conv2d_relu_max_pool.c - convolution, ReLU and max-pooling in one pass.
 *
 * A unit is one row of pooled outputs of one image. For each panel of filters and each block of its columns, the few
 * activations under it are computed into a buffer that stays in the first-level cache, and pooled from there. Where
 * pooling windows overlap, the activations they share are computed once for each row. Pictures under the usual windows
 * have so few products to a result that the way through a buffer would cost as much as they do: conv_pooled.h. 3x3
 * filters of many channels under these windows need fewer products: winograd.h.
 */
#include "kernels/cpu/cast.h"
#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_backward.h"
#include "kernels/cpu/conv_pooled.h"
#include "kernels/cpu/pooling.h"
#include "kernels/cpu/sweep.h"
#include "kernels/cpu/winograd.h"

enum { BLOCK_FLOATS = 6144 };  /* activations of a block, 24 KiB */
enum { COLOURS_ROWS = 2 * 8 }; /* of activations, for which rows of a picture are copied at once */

typedef struct {
    conv_input in;
    gr_geometry pool;
    int64_t k;    /* filters */
    bool colours; /* pooled in registers, without a buffer */
    bool stream;  /* y past the caches */
    bool few_products;
    int64_t block, block_cols; /* pooled columns of a block; columns of activations under them, at most */
    int64_t units, chunks;
    int64_t strip, acts; /* floats */
    float *packed, *bias, *strips, *buffers;
    float *transformed; /* filters of pictures, */
    float *weights;     /* which are rounded for halves */
    size_t bytes;
    const void *x; /* [N,H,W,C]: floats, or with colours halves */
    void *y;       /* [N,pool.p,pool.q,K]: the same */
    gr_type type;
    uint8_t *argmax;         /* the same or NULL */
    winograd_sweep winograd; /* with few products */
} forward_plan;

static gr_geometry conv_geometry(const gr_call *call)
{
    const gr_conv2d_relu_max_pool_args *args = call->options;
    const gr_tensor *w = call->in[1];
    return gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->conv.window, false);
}

static gr_geometry pool_geometry(const gr_call *call, const gr_geometry *conv)
{
    const gr_conv2d_relu_max_pool_args *args = call->options;
    const gr_tensor activation = {.ndim = 4, .shape = {conv->n, conv->p, conv->q, call->in[1]->shape[0]}};
    return gr__geometry(&activation, args->pool.size[0], args->pool.size[1], &args->pool.window, true);
}

/* Few products. */
static void plan_winograd(forward_plan *f, scratch *s)
{
    const gr_geometry *g = &f->in.g;
    f->bias = scratch_take(s, round_up(f->k, PANEL));
    f->winograd = (winograd_sweep){.from = {.dy = f->x, .p = g->h, .q = g->w, .k = g->c},
                                   .n = g->n,
                                   .pad_top = g->pad_top,
                                   .pad_left = g->pad_left,
                                   .depth = g->c,
                                   .p = 2 * f->pool.p,
                                   .q = 2 * f->pool.q,
                                   .channels = f->k,
                                   .bias = f->bias,
                                   .out = f->y,
                                   .pooled = true,
                                   .argmax = f->argmax};
    winograd_sweep_plan(&f->winograd, s);
}

/* Row by row. */
static void plan_rows(forward_plan *f, scratch *s)
{
    const gr_geometry *g = &f->in.g;
    f->block = max64(1, BLOCK_FLOATS / (f->pool.r * f->pool.stride_w * PANEL));
    f->block = ceil_div(f->pool.q, ceil_div(f->pool.q, f->block)); /* about equal blocks */
    f->block_cols = (f->block - 1) * f->pool.stride_w + f->pool.s;
    f->units = f->pool.n * f->pool.p;
    f->strip = round_up(conv_strip(&f->in, f->colours ? COLOURS_ROWS : f->pool.r), 16);
    f->acts = f->colours ? 0 : f->pool.r * f->block_cols * PANEL;
    f->chunks = conv_chunks(f->units, f->strip + f->acts);
    const int64_t panels = ceil_div(f->k, PANEL);
    f->packed = scratch_take(s, panels * PANEL * g->r * g->s * g->c);
    f->weights = scratch_take(s, f->type == GR_F32 ? 0 : f->k * g->r * g->s * g->c);
    f->transformed = scratch_take(s, f->colours ? panels * PANEL * COLOURS_PLACES * g->c : 0);
    f->bias = scratch_take(s, panels * PANEL);
    f->strips = scratch_take(s, f->chunks * f->strip);
    f->buffers = scratch_take(s, f->chunks * f->acts);
}

static forward_plan plan_forward(const gr_call *call, void *base)
{
    const gr_geometry g = conv_geometry(call), pool = pool_geometry(call, &g);
    forward_plan f = {.in = conv_input_of(&g, call->in[0]->type),
                      .pool = pool,
                      .k = call->in[1]->shape[0],
                      .colours = conv_pooled_colours(&g, &pool),
                      .few_products = winograd_pooled_fits(call, &g, &pool),
                      .x = call->in[0]->data,
                      .y = call->out[0]->data,
                      .type = call->out[0]->type,
                      .argmax = gr__u8(call->out[1])};
    f.stream = f.colours && f.type == GR_F32 && goes_past_caches(f.y, pool.n * pool.p * pool.q * f.k, f.k);
    scratch s = {.base = base};
    (f.few_products ? plan_winograd : plan_rows)(&f, &s);
    f.bytes = s.used;
    return f;
}

/* The largest of acts[.][.][PANEL] under places u x v of a window that is `wide` places wide and begins at acts. */
INLINE best window_best(const float *acts, int64_t row, span u, span v, int64_t wide)
{
    best b = {{0}, ivec_all(NOWHERE)};
    for (int64_t i = u.begin; i < u.end; i++)
        for (int64_t j = v.begin; j < v.end; j++)
            compete(&b, vec_load(acts + i * row + j * PANEL), (int)(i * wide + j));
    return b;
}

/* Pools columns q of row p from acts[row..][col..][PANEL]. */
static void pool_columns(const forward_plan *f, int64_t p, span q, const float *acts, span row, span col, float *y,
                         uint8_t *argmax, int64_t width)
{
    const gr_geometry *o = &f->pool;
    const span u = taps_inside(p, o->stride_h, o->pad_top, o->r, o->h), two = {0, 2};
    const int64_t pitch = (col.end - col.begin) * PANEL;
    for (int64_t at = q.begin; at < q.end; at++) {
        const span v = taps_inside(at, o->stride_w, o->pad_left, o->s, o->w);
        const bool usual = o->r == 2 && o->s == 2 && u.end - u.begin == 2 && v.end - v.begin == 2;
        const float *window = acts + (p * o->stride_h - o->pad_top - row.begin) * pitch +
                              (at * o->stride_w - o->pad_left - col.begin) * PANEL;
        for (int64_t k = 0; k < width; k += VL) { /* constants unroll the usual window */
            const best b =
                usual ? window_best(window + k, pitch, two, two, 2) : window_best(window + k, pitch, u, v, o->s);
            write_best(&b, y + at * f->k + k, argmax ? argmax + at * f->k + k : NULL, min64(VL, width - k));
        }
    }
}

/* The columns of activations under pooled columns q that exist. */
static span columns_under(const gr_geometry *o, span q)
{
    const int64_t begin = q.begin * o->stride_w - o->pad_left, end = (q.end - 1) * o->stride_w - o->pad_left + o->s;
    return (span){max64(0, begin), max64(max64(0, begin), min64(o->w, end))};
}

/* Row p of image n. windows: the windows of activation row row.begin on. */
static void pooled_row(const forward_plan *f, int64_t n, int64_t p, span row, const float *windows, float *acts)
{
    const gr_geometry *g = &f->in.g, *o = &f->pool;
    const int64_t at = (n * o->p + p) * o->q * f->k, blocks = ceil_div(o->q, f->block);
    sweep s = {.in_row = g->stride_h * f->in.pitch,
               .in_pixel = g->stride_w * g->c,
               .tap_row = f->in.pitch,
               .taps = g->r,
               .depth = g->s * g->c,
               .out = acts,
               .out_pixel = PANEL,
               .rows = row.end - row.begin,
               .relu = true};
    for (int64_t k = 0; k < f->k; k += PANEL)
        for (int64_t i = 0; i < blocks; i++) {
            const span q = {i * f->block, min64(o->q, (i + 1) * f->block)}, col = columns_under(o, q);
            s.in = windows + col.begin * s.in_pixel;
            s.cols = col.end - col.begin;
            s.out_row = s.cols * PANEL;
            s.w = f->packed + k * s.taps * s.depth;
            s.bias = f->bias + k;
            s.channels = PANEL; /* filters beyond K are zeros */
            sweep_run(&s);
            pool_columns(f, p, q, acts, row, col, (float *)f->y + at + k, f->argmax ? f->argmax + at + k : NULL,
                         min64(PANEL, f->k - k));
        }
}

/* The same for pictures. */
static void colours_windows(const forward_plan *f, int64_t n, int64_t p, const float *windows, ahead *next)
{
    const gr_geometry *o = &f->pool;
    const int64_t at = (n * o->p + p) * o->q * f->k;
    const colours_row row = {.x = windows,
                             .pitch = f->in.pitch,
                             .u = f->transformed,
                             .bias = f->bias,
                             .type = f->type,
                             .y = f->y,
                             .stream = f->stream,
                             .argmax = f->argmax,
                             .at = at,
                             .windows = o->q,
                             .k = f->k,
                             .next = next};
    conv_pooled_colours_run(&row);
}

static void forward_chunk(void *arg, int64_t chunk)
{
    const forward_plan *f = arg;
    const gr_geometry *o = &f->pool;
    const span units = part_of(f->units, chunk, f->chunks);
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        const int64_t n = unit / o->p, p = unit % o->p, first = p * o->stride_h - o->pad_top;
        const span u = taps_inside(p, o->stride_h, o->pad_top, o->r, o->h);
        const span row = {first + u.begin, first + max64(u.begin, u.end)};
        const float *windows = f->x;
        if (row.begin < row.end)
            windows = conv_rows(&f->in, f->x, n, row.begin, row.end - row.begin, f->strips + chunk * f->strip);
        pooled_row(f, n, p, row, windows, f->buffers + chunk * f->acts);
    }
}

/* The same of pictures, several rows of windows from what is copied of x at once. */
static void colours_chunk(void *arg, int64_t chunk)
{
    const forward_plan *f = arg;
    const int64_t high = f->pool.p;
    const span units = part_of(f->units, chunk, f->chunks);
    int64_t rows;
    for (int64_t unit = units.begin; unit < units.end; unit += rows) {
        const int64_t n = unit / high, p = unit % high;
        rows = min64(COLOURS_ROWS / 2, min64(high - p, units.end - unit));
        const float *x = conv_rows(&f->in, f->x, n, 2 * p, 2 * rows, f->strips + chunk * f->strip);
        ahead next;
        ahead_clear(&next);
        ahead_add_run(&next, conv_ahead(&f->in, f->x, n, 2 * (p + rows), COLOURS_ROWS));
        ahead_begin(&next, rows * conv_pooled_colours_chances(f->pool.q, f->k));
        for (int64_t i = 0; i < rows; i++)
            colours_windows(f, n, p + i, x + 2 * i * f->in.pitch, &next);
    }
}

/* The filters as halves have them, in floats. */
static void round_weights(const forward_plan *f, const gr_tensor *w)
{
    if (w->type == GR_F32)
        GR_CPU(round_to)(f->type, f->weights, gr__f32(w), w->count);
    else
        GR_CPU(convert)(GR_F32, f->weights, w->type, w->data, w->count);
}

/* Of pictures, a gradient of which nobody wants, halves are widened and rounded where they are read and written. */
bool GR_CPU(conv2d_relu_max_pool_halves)(const gr_call *call, gr_pass pass)
{
    const gr_geometry g = conv_geometry(call), pool = pool_geometry(call, &g);
    return conv_pooled_colours(&g, &pool) && !(pass == GR_BACKWARD && call->d_in[0]) && gr__is_half(call->in[0]);
}

void GR_CPU(conv2d_relu_max_pool_forward)(const gr_call *call)
{
    forward_plan f = plan_forward(call, call->exec->scratch);
    if (f.few_products) {
        conv_pack_bias(call, f.bias);
        winograd_filters(call->exec, &f.winograd, gr__f32(call->in[1]), false);
        winograd_sweep_run(call->exec, &f.winograd);
        return;
    }
    gr_call seen = *call;
    gr_tensor weights = *call->in[1];
    if (f.type != GR_F32) {
        round_weights(&f, call->in[1]);
        weights.type = GR_F32;
        weights.data = f.weights;
        seen.in[1] = &weights;
    }
    conv_pack(&seen, f.packed, f.bias);
    if (f.colours)
        conv_pooled_colours_filters(f.packed, ceil_div(f.k, PANEL), f.transformed);
    gr_parallel_for(call->exec, f.chunks, f.colours ? colours_chunk : forward_chunk, &f);
}

static conv_dz dz_of(const gr_call *call, const gr_geometry *g)
{
    return (conv_dz){.dy = gr__f32(call->d_out[0]),
                     .halves = call->d_out[0]->data,
                     .type = call->d_out[0]->type,
                     .argmax = gr__u8(call->out[1]),
                     .pool = pool_geometry(call, g),
                     .p = g->p,
                     .q = g->q,
                     .k = call->in[1]->shape[0]};
}

void GR_CPU(conv2d_relu_max_pool_backward)(const gr_call *call)
{
    const gr_geometry g = conv_geometry(call);
    const conv_dz dz = dz_of(call, &g);
    conv_backward(call, &g, &dz);
}

size_t GR_CPU(conv2d_relu_max_pool_scratch)(const gr_call *call, gr_pass pass)
{
    if (pass == GR_FORWARD)
        return plan_forward(call, NULL).bytes;
    const gr_geometry g = conv_geometry(call);
    const conv_dz dz = dz_of(call, &g);
    return conv_backward_scratch(call, &g, &dz);
}
