/*
 * conv2d.c - 2-D convolution of bf16, or of floats in pieces of it: forward and dX as sweeps, dW and db by grad_w.h.
 * Weights may be floats beside bf16, too, and are rounded as they are packed. All else - floats as they are, and f16 -
 * is for the kernels of ../conv2d.c.
 */
#include "kernels/cpu/amx/filters.h"
#include "kernels/cpu/amx/grad_w.h"
#include "kernels/cpu/amx/sweep.h"
#include "kernels/cpu/winograd.h"

static gr_geometry geometry_of(const gr_call *call)
{
    const gr_conv2d_args *args = call->options;
    const gr_tensor *w = call->in[1];
    return gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->window, false);
}

/* Whether floats are the quicker way: pairs make twice their products, Winograd's convolutions need a quarter. */
static bool floats_are_quicker(const gr_call *call)
{
#if defined(GR_TILES_PAIRS)
    const gr_geometry g = geometry_of(call);
    return winograd_fits(call, &g);
#else
    (void)call;
    return false;
#endif
}

/* The gradient of an input of floats, which x is a copy of, is one of floats. */
bool GR_TILED(conv2d_halves)(const gr_call *call, gr_pass pass)
{
    return call->in[0]->type == GR_BF16 && (pass == GR_FORWARD || !call->d_in[0] || call->d_in[0]->type == GR_BF16) &&
           !floats_are_quicker(call);
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

static tiled_sweep plan_forward(const gr_call *call, scratch *room, uint16_t **filters)
{
    const gr_conv2d_args *args = call->options;
    const gr_geometry g = geometry_of(call);
    tiled_sweep s = {.cells = cells_of(&g, TILE, true),
                     .from = {.data = call->in[0]->data, .pieces = pieces_of(call)},
                     .channels = call->in[1]->shape[0],
                     .bias = gr__f32(call->in[2]),
                     .type = call->out[0]->type,
                     .out = call->out[0]->data,
                     .relu = args->relu};
    s.out_pixel = s.channels;
    s.out_row = g.q * s.out_pixel;
    s.out_image = g.p * s.out_row;
    *filters = scratch_halves(room, s.from.pieces * filters_halves(s.channels, s.cells.taps, s.cells.depth));
    s.w = *filters;
    tiled_sweep_plan(&s, room);
    return s;
}

static void forward(const gr_call *call)
{
    scratch room = {.base = call->exec->scratch};
    uint16_t *filters;
    tiled_sweep s = plan_forward(call, &room, &filters);
    filters_pack(call->exec, call->in[1], s.cells.taps, s.from.pieces, filters);
    tiled_sweep_run(call->exec, &s);
}

/* --- dX ----------------------------------------------------------------------------------------------------------- */

/*
 * dX[n,h,w,c] = sum of dz[n,p,q,k] w[k,r,s,c] over p stride_h + r = h + pad_top and q stride_w + s = w + pad_left: for
 * the h and w of one phase of the stride a convolution of dz with every stride-th tap, turned round, by steps of one.
 */
typedef struct {
    int64_t first, count; /* places of x: first, first + stride, ... */
    int64_t from;         /* row of dz that the first one's first tap reads */
    phase_taps taps;
} phase_axis;

static phase_axis axis_of(int64_t phase, int64_t size, int64_t window, int64_t stride, int64_t pad)
{
    phase_axis a = {.first = ((phase - pad) % stride + stride) % stride};
    a.count = a.first < size ? ceil_div(size - a.first, stride) : 0;
    a.taps = (phase_taps){phase, phase < window ? ceil_div(window - phase, stride) : 0, stride};
    a.from = floor_div(a.first + pad, stride) - (a.taps.count - 1);
    return a;
}

typedef struct {
    phase_axis rows, cols;
    tiled_sweep sweep;
    uint16_t *filters;
} grad_x_phase;

/* False: no place of x has this phase. */
static bool plan_phase(const gr_call *call, const gr_geometry *g, int64_t phase, scratch *room, grad_x_phase *f)
{
    const gr_conv2d_args *args = call->options;
    const int64_t k = call->in[1]->shape[0];
    f->rows = axis_of(phase / g->stride_w, g->h, g->r, g->stride_h, g->pad_top);
    f->cols = axis_of(phase % g->stride_w, g->w, g->s, g->stride_w, g->pad_left);
    const gr_geometry over_dz = {.n = g->n,
                                 .h = g->p,
                                 .w = g->q,
                                 .c = k,
                                 .r = f->rows.taps.count,
                                 .s = f->cols.taps.count,
                                 .p = f->rows.count,
                                 .q = f->cols.count,
                                 .stride_h = 1,
                                 .stride_w = 1,
                                 .pad_top = -f->rows.from,
                                 .pad_left = -f->cols.from};
    if (f->rows.count == 0 || f->cols.count == 0)
        return false;
    char *dx = call->d_in[0]->data;
    const int64_t first = (f->rows.first * g->w + f->cols.first) * g->c; /* element */
    f->sweep = (tiled_sweep){.cells = cells_of(&over_dz, TILE, false),
                             .from = {.data = call->d_out[0]->data,
                                      .gate = args->relu ? call->out[0]->data : NULL,
                                      .pieces = pieces_of(call)},
                             .channels = g->c,
                             .type = call->d_in[0]->type,
                             .out = dx ? dx + first * (int64_t)gr_type_size(call->d_in[0]->type) : NULL,
                             .out_image = g->h * g->w * g->c,
                             .out_row = g->stride_h * g->w * g->c,
                             .out_pixel = g->stride_w * g->c,
                             .accumulate = call->accumulate & 1};
    f->filters = scratch_halves(room, f->sweep.from.pieces * filters_halves(g->c, f->sweep.cells.taps, k));
    f->sweep.w = f->filters;
    tiled_sweep_plan(&f->sweep, room);
    return true;
}

static void grad_x(const gr_call *call, const gr_geometry *g)
{
    for (int64_t phase = 0; phase < g->stride_h * g->stride_w; phase++) {
        scratch room = {.base = call->exec->scratch};
        grad_x_phase f;
        if (!plan_phase(call, g, phase, &room, &f))
            continue;
        filters_pack_turned(call->exec, call->in[1], f.rows.taps, f.cols.taps, f.sweep.from.pieces, f.filters);
        tiled_sweep_run(call->exec, &f.sweep);
    }
}

static size_t grad_x_scratch(const gr_call *call, const gr_geometry *g)
{
    size_t most = 0;
    for (int64_t phase = 0; phase < g->stride_h * g->stride_w; phase++) {
        scratch room = {.base = NULL};
        grad_x_phase f;
        if (plan_phase(call, g, phase, &room, &f))
            most = room.used > most ? room.used : most;
    }
    return most;
}

/* --- the hooks ---------------------------------------------------------------------------------------------------- */

void GR_TILED(conv2d_forward)(const gr_call *call)
{
    (pieces_of(call) ? forward : GR_CPU(conv2d_forward))(call);
}

void GR_TILED(conv2d_backward)(const gr_call *call)
{
    if (!pieces_of(call)) {
        GR_CPU(conv2d_backward)(call);
        return;
    }
    const gr_geometry g = geometry_of(call);
    if (call->d_in[0])
        grad_x(call, &g);
    if (call->d_in[1] || call->d_in[2])
        tiled_grad_w_run(call, &g);
}

size_t GR_TILED(conv2d_scratch)(const gr_call *call, gr_pass pass)
{
    if (!pieces_of(call))
        return GR_CPU(conv2d_scratch)(call, pass);
    if (pass == GR_FORWARD) {
        scratch room = {.base = NULL};
        uint16_t *filters;
        plan_forward(call, &room, &filters);
        return room.used;
    }
    const gr_geometry g = geometry_of(call);
    const size_t x = call->d_in[0] ? grad_x_scratch(call, &g) : 0;
    const size_t w = call->d_in[1] || call->d_in[2] ? tiled_grad_w_scratch(call, &g) : 0;
    return x > w ? x : w;
}
