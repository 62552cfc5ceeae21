/*
 * conv_grad_x.c - dX of a convolution, itself a convolution: of dz with the filters turned round.
 *
 *   dX[n,h,w,c] = sum_{k,r,s} dz[n,p,q,k] w[k,r,s,c]      p*stride_h = h + pad_top - r,  q*stride_w = w + pad_left - s
 *
 * With stride_h x stride_w above 1, only every stride-th tap meets a given h and w. The rows and columns of dX fall
 * into stride_h x stride_w phases, (h + pad_top) mod stride_h and likewise for w; each phase is a convolution at stride
 * 1 with the taps of its phase, written to every stride-th row and column. No product with a zero between is computed.
 * Small images are swept in groups (conv_small.h); 3x3 filters of many channels need fewer products (winograd.h); under
 * pooling windows it starts from their winners (conv_pooled.h).
 */
#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_grad.h"
#include "kernels/cpu/conv_pooled.h"
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/sweep.h"
#include "kernels/cpu/winograd.h"

enum { PACK = 8 }; /* filters that a chunk packs */

/* One axis: taps of a filter of size taps that belong to a phase. */
static int64_t taps_of(int64_t taps, int64_t stride, int64_t phase)
{
    return taps > phase ? (taps - phase - 1) / stride + 1 : 0;
}

typedef struct {
    gr_geometry g;
    int64_t k;                           /* filters */
    int64_t rmax, smax;                  /* most taps of a phase */
    int64_t q0, cols;                    /* columns of a strip of dz: [q0, q0 + cols) */
    int64_t rows, blocks, units, chunks; /* rows of dX in a unit, units of an image, of the batch, chunks */
    int64_t strip;                       /* floats */
    int64_t phase_floats;                /* of packed filters, at most */
    const float *w;                      /* [K,R,S,C] */
    float *packed;                       /* [phase][panel of c][tap r][tap s][K][PANEL]; small images: one phase */
    float *strips;                       /* [chunk][row][col][K] */
    size_t bytes;
    float *dx; /* [N,H,W,C] */
    bool accumulate;
    const conv_dz *dz;
    bool small, few_products;
    small_sweep sweep;       /* of small images */
    winograd_sweep winograd; /* with few products */
} grad_x_plan;

/* Rows of dz that rows [h, h + rows) of dX depend on. */
static span dz_rows(const grad_x_plan *f, int64_t h, int64_t rows)
{
    const gr_geometry *g = &f->g;
    return (span){floor_div(h + g->pad_top, g->stride_h) - (f->rmax - 1),
                  floor_div(h + rows - 1 + g->pad_top, g->stride_h) + 1};
}

static grad_x_plan plan(const gr_call *call, const gr_geometry *g, void *base)
{
    const gr_tensor *w = call->in[1];
    grad_x_plan f = {
        .g = *g, .k = w->shape[0], .w = gr__f32(w), .dx = gr__f32(call->d_in[0]), .accumulate = call->accumulate & 1};
    f.rmax = taps_of(g->r, g->stride_h, 0);
    f.smax = taps_of(g->s, g->stride_w, 0);
    f.q0 = floor_div(g->pad_left, g->stride_w) - (f.smax - 1);
    f.cols = floor_div(g->w - 1 + g->pad_left, g->stride_w) + 1 - f.q0;
    f.rows = conv_unit_rows(g->n, g->h, ceil_div(f.cols * f.k, g->stride_h) + g->w * g->c);
    f.blocks = ceil_div(g->h, f.rows);
    f.units = g->n * f.blocks;
    f.strip = round_up((ceil_div(f.rows, g->stride_h) + f.rmax) * f.cols * f.k, 16);
    f.chunks = conv_chunks(f.units, f.strip);
    f.phase_floats = round_up(g->c, PANEL) * f.rmax * f.smax * f.k;
    scratch s = {.base = base};
    f.few_products = winograd_grad_x_fits(call, g);
    f.small = !f.few_products && conv_is_small(g, f.k);
    f.packed = scratch_take(&s, f.few_products ? 0 : g->stride_h * g->stride_w * f.phase_floats);
    if (f.few_products) {
        const bool transposed = winograd_grad_x_transposed(g);
        f.winograd = (winograd_sweep){.from = {.p = g->p, .q = g->q, .k = f.k},
                                      .n = g->n,
                                      .transposed = transposed,
                                      .pad_top = transposed ? 0 : g->r - 1 - g->pad_top,
                                      .pad_left = transposed ? 0 : g->s - 1 - g->pad_left,
                                      .out_top = transposed ? g->pad_top : 0,
                                      .out_left = transposed ? g->pad_left : 0,
                                      .depth = f.k,
                                      .p = g->h,
                                      .q = g->w,
                                      .channels = g->c,
                                      .out = f.dx,
                                      .accumulate = f.accumulate};
        winograd_sweep_plan(&f.winograd, &s);
    } else if (f.small) {
        f.sweep = (small_sweep){.g = *g,
                                .turned = true,
                                .depth = f.k,
                                .channels = g->c,
                                .w = f.packed,
                                .out = f.dx,
                                .accumulate = f.accumulate};
        small_sweep_plan(&f.sweep, &s);
    } else
        f.strips = scratch_take(&s, f.chunks * f.strip);
    f.bytes = s.used;
    return f;
}

/* Where the K filters' numbers for tap r, s and a panel of channels go: by phase, or for small images tap by tap. */
static float *packed_tap(const grad_x_plan *f, int64_t panel, int64_t r, int64_t s)
{
    const gr_geometry *g = &f->g;
    if (f->small)
        return f->packed + ((panel * g->r + r) * g->s + s) * f->k * PANEL;
    const int64_t fh = r % g->stride_h, fw = s % g->stride_w;
    const int64_t taps_r = taps_of(g->r, g->stride_h, fh), taps_s = taps_of(g->s, g->stride_w, fw);
    const int64_t a = taps_r - 1 - r / g->stride_h, b = taps_s - 1 - s / g->stride_w; /* last tap first */
    return f->packed + (fh * g->stride_w + fw) * f->phase_floats + ((panel * taps_r + a) * taps_s + b) * f->k * PANEL;
}

/* Chunk: a block of filters. Each is read once from end to end. */
static void pack_chunk(void *arg, int64_t chunk)
{
    const grad_x_plan *f = arg;
    const gr_geometry *g = &f->g;
    const float *w = f->w + chunk * PACK * g->r * g->s * g->c;
    for (int64_t k = chunk * PACK; k < min64(f->k, (chunk + 1) * PACK); k++)
        for (int64_t r = 0; r < g->r; r++)
            for (int64_t s = 0; s < g->s; s++, w += g->c)
                for (int64_t c = 0; c < g->c; c += PANEL)
                    pack_panel(w + c, 0, 1, min64(PANEL, g->c - c), packed_tap(f, c / PANEL, r, s) + k * PANEL);
}

/* The first of h, h + 1, ... that belongs to a phase of an axis. */
static int64_t first_of_phase(int64_t h, int64_t pad, int64_t stride, int64_t phase)
{
    return h + ((phase - h - pad) % stride + stride) % stride;
}

/* Rows [h, h + rows) of dX of image n, one phase; strip holds the rows of dz from p on. */
static void run_phase(const grad_x_plan *f, int64_t phase, int64_t n, span rows, const float *strip, int64_t p)
{
    const gr_geometry *g = &f->g;
    const int64_t fh = phase / g->stride_w, fw = phase % g->stride_w;
    const int64_t h = first_of_phase(rows.begin, g->pad_top, g->stride_h, fh);
    const int64_t w = first_of_phase(0, g->pad_left, g->stride_w, fw);
    const int64_t taps_r = taps_of(g->r, g->stride_h, fh), taps_s = taps_of(g->s, g->stride_w, fw);
    if (h >= rows.end || w >= g->w)
        return;
    sweep s = {.in_row = f->cols * f->k,
               .in_pixel = f->k,
               .tap_row = f->cols * f->k,
               .taps = taps_r,
               .depth = taps_s * f->k,
               .w = f->packed + phase * f->phase_floats,
               .out_row = g->stride_h * g->w * g->c,
               .out_pixel = g->stride_w * g->c,
               .rows = ceil_div(rows.end - h, g->stride_h),
               .cols = ceil_div(g->w - w, g->stride_w),
               .channels = g->c,
               .accumulate = f->accumulate};
    s.out = f->dx + ((n * g->h + h) * g->w + w) * g->c;
    if (taps_r == 0 || taps_s == 0)
        s.taps = s.depth = 0; /* no filter tap reaches this phase: zeros */
    const int64_t row = floor_div(h + g->pad_top, g->stride_h) - (taps_r - 1) - p;
    const int64_t col = floor_div(w + g->pad_left, g->stride_w) - (taps_s - 1) - f->q0;
    s.in = s.taps ? strip + (row * f->cols + col) * f->k : strip;
    sweep_run(&s);
}

static void grad_x_chunk(void *arg, int64_t chunk)
{
    const grad_x_plan *f = arg;
    const span units = part_of(f->units, chunk, f->chunks);
    float *strip = f->strips + chunk * f->strip;
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        const int64_t n = unit / f->blocks;
        const span rows = part_of(f->g.h, unit % f->blocks, f->blocks);
        const conv_box box = {n, dz_rows(f, rows.begin, rows.end - rows.begin), {f->q0, f->q0 + f->cols}, {0, f->k}};
        conv_dz_fill(f->dz, &box, strip, f->k, f->k);
        for (int64_t phase = 0; phase < f->g.stride_h * f->g.stride_w; phase++)
            run_phase(f, phase, n, rows, strip, box.row.begin);
    }
}

void conv_grad_x(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    if (conv_pooled_grad_x_fits(g, dz)) {
        conv_pooled_grad_x(call, g, dz);
        return;
    }
    grad_x_plan f = plan(call, g, call->exec->scratch);
    f.dz = dz;
    if (f.few_products) {
        f.winograd.from = *dz;
        winograd_filters(call->exec, &f.winograd, f.w, true);
        winograd_sweep_run(call->exec, &f.winograd);
        return;
    }
    gr_parallel_for(call->exec, ceil_div(f.k, PACK), pack_chunk, &f);
    if (f.small) {
        f.sweep.from = *dz;
        small_sweep_run(call->exec, &f.sweep);
    } else
        gr_parallel_for(call->exec, f.chunks, grad_x_chunk, &f);
}

size_t conv_grad_x_scratch(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    if (!call->d_in[0])
        return 0;
    return conv_pooled_grad_x_fits(g, dz) ? conv_pooled_grad_x_scratch(call, g, dz) : plan(call, g, NULL).bytes;
}
