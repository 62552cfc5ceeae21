/*
 * conv2d.c - 2-D convolution: a sweep over the rows of each image, bias and ReLU in its epilogue.
 *
 * Each unit of a few output rows is swept with all filters, panel by panel; small images are swept in groups
 * (conv_small.h), and 3x3 filters of many channels need fewer products (winograd.h). The gradients are in conv_grad_x.c
 * and conv_grad_w.c.
 */
#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_backward.h"
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/sweep.h"
#include "kernels/cpu/winograd.h"

typedef struct {
    conv_input in;
    int64_t k;                           /* filters */
    int64_t rows, blocks, units, chunks; /* output rows of a unit, units of an image, of the batch, chunks */
    float *packed, *bias, *strips;
    int64_t strip;
    size_t bytes;
    const float *x; /* [N,H,W,C] */
    float *y;       /* [N,P,Q,K] */
    bool relu;
    bool small, few_products;
    small_sweep sweep;       /* of small images */
    winograd_sweep winograd; /* with few products */
} forward_plan;

static gr_geometry geometry_of(const gr_call *call)
{
    const gr_conv2d_args *args = call->options;
    const gr_tensor *w = call->in[1];
    return gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->window, false);
}

static forward_plan plan_forward(const gr_call *call, void *base)
{
    const gr_conv2d_args *args = call->options;
    const gr_geometry g = geometry_of(call);
    forward_plan f = {.in = conv_input_of(&g, GR_F32),
                      .k = call->in[1]->shape[0],
                      .x = gr__f32(call->in[0]),
                      .y = gr__f32(call->out[0]),
                      .relu = args->relu};
    f.few_products = winograd_fits(call, &g);
    f.small = !f.few_products && conv_is_small(&g, f.k);
    f.rows = conv_unit_rows(g.n, g.p, g.stride_h * f.in.pitch + g.q * f.k);
    f.blocks = ceil_div(g.p, f.rows);
    f.units = g.n * f.blocks;
    f.strip = round_up(conv_strip(&f.in, f.rows), 16);
    f.chunks = conv_chunks(f.units, f.strip);
    scratch s = {.base = base};
    const int64_t panels = ceil_div(f.k, PANEL);
    f.packed = scratch_take(&s, f.few_products ? 0 : panels * PANEL * g.r * g.s * g.c);
    f.bias = scratch_take(&s, panels * PANEL);
    if (f.few_products) {
        f.winograd = (winograd_sweep){.from = {.dy = f.x, .p = g.h, .q = g.w, .k = g.c},
                                      .n = g.n,
                                      .pad_top = g.pad_top,
                                      .pad_left = g.pad_left,
                                      .depth = g.c,
                                      .p = g.p,
                                      .q = g.q,
                                      .channels = f.k,
                                      .bias = f.bias,
                                      .out = f.y,
                                      .relu = f.relu};
        winograd_sweep_plan(&f.winograd, &s);
    } else if (f.small) {
        f.sweep = (small_sweep){.g = g,
                                .depth = g.c,
                                .channels = f.k,
                                .w = f.packed,
                                .bias = f.bias,
                                .out = f.y,
                                .from = {.dy = f.x, .p = g.h, .q = g.w, .k = g.c},
                                .relu = f.relu};
        small_sweep_plan(&f.sweep, &s);
    } else
        f.strips = scratch_take(&s, f.chunks * f.strip);
    f.bytes = s.used;
    return f;
}

static void forward_chunk(void *arg, int64_t chunk)
{
    const forward_plan *f = arg;
    const gr_geometry *g = &f->in.g;
    const span units = part_of(f->units, chunk, f->chunks);
    sweep s = {.in_row = g->stride_h * f->in.pitch,
               .in_pixel = g->stride_w * g->c,
               .tap_row = f->in.pitch,
               .taps = g->r,
               .depth = g->s * g->c,
               .w = f->packed,
               .bias = f->bias,
               .out_row = g->q * f->k,
               .out_pixel = f->k,
               .cols = g->q,
               .channels = f->k,
               .relu = f->relu};
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        const int64_t n = unit / f->blocks;
        const span p = part_of(g->p, unit % f->blocks, f->blocks);
        s.rows = p.end - p.begin;
        s.in = conv_rows(&f->in, f->x, n, p.begin, s.rows, f->strips + chunk * f->strip);
        s.out = f->y + (n * g->p + p.begin) * s.out_row;
        sweep_run(&s);
    }
}

void GR_CPU(conv2d_forward)(const gr_call *call)
{
    forward_plan f = plan_forward(call, call->exec->scratch);
    if (f.few_products) {
        conv_pack_bias(call, f.bias);
        winograd_filters(call->exec, &f.winograd, gr__f32(call->in[1]), false);
        winograd_sweep_run(call->exec, &f.winograd);
        return;
    }
    conv_pack(call, f.packed, f.bias);
    if (f.small)
        small_sweep_run(call->exec, &f.sweep);
    else
        gr_parallel_for(call->exec, f.chunks, forward_chunk, &f);
}

static conv_dz dz_of(const gr_call *call, const gr_geometry *g)
{
    const gr_conv2d_args *args = call->options;
    return (conv_dz){.dy = gr__f32(call->d_out[0]),
                     .type = GR_F32,
                     .y = args->relu ? gr__f32(call->out[0]) : NULL,
                     .p = g->p,
                     .q = g->q,
                     .k = call->in[1]->shape[0]};
}

void GR_CPU(conv2d_backward)(const gr_call *call)
{
    const gr_geometry g = geometry_of(call);
    const conv_dz dz = dz_of(call, &g);
    conv_backward(call, &g, &dz);
}

size_t GR_CPU(conv2d_scratch)(const gr_call *call, gr_pass pass)
{
    if (pass == GR_FORWARD)
        return plan_forward(call, NULL).bytes;
    const gr_geometry g = geometry_of(call);
    const conv_dz dz = dz_of(call, &g);
    return conv_backward_scratch(call, &g, &dz);
}
