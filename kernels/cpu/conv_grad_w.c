/*
 * conv_grad_w.c - dW and db of a convolution.
 *
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n, p*stride_h+r-pad_top, q*stride_w+s-pad_left, c]
 *   db[k]       = sum_{n,p,q} dz[n,p,q,k]
 *
 * For one filter row r this is a product of matrices, [S*C x pixels] times [pixels x K], whose left factor is read from
 * the image where it lies: at each pixel the S*C numbers under the filter row stand side by side. The pixels of the
 * batch are divided into parts, each summed by one chunk for one panel of filters; the partial sums are added in the
 * order of the parts. Small images have one part, summed by conv_small_grad_w.c; so have 3x3 filters of many channels,
 * summed with fewer products by winograd_grad_w.c. Where the usual pooling leaves most of dz zero, its winners alone
 * are multiplied (conv_pooled.h).
 */
#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_grad.h"
#include "kernels/cpu/conv_pooled.h"
#include "kernels/cpu/conv_small.h"
#include "kernels/cpu/tile.h"
#include "kernels/cpu/winograd.h"

typedef struct {
    conv_input in;
    int64_t panels;              /* of filters */
    int64_t rows, blocks, units; /* output rows of a unit, units of an image, of the batch */
    int64_t parts;               /* of the batch */
    int64_t x_strip, dz_strip;   /* floats */
    float *x_strips, *dz_strips; /* [part][panel][..]; where wide, lists of winners in place of dz */
    int64_t list_room;           /* winners of such a list */
    float *dw_parts;             /* [part][panel][R*S*C][PANEL], by filter [part][panel][PANEL][R*S*C]; whole: none */
    float *db_parts;             /* [part][panel][PANEL] */
    size_t bytes;
    const void *x; /* [N,H,W,C]: floats, or with colours halves */
    const conv_dz *dz;
    conv_dw dw;
    float *db; /* [K] or NULL */
    bool accumulate_b;
    bool colours, wide;       /* from the winners of pooling windows, with three channels or many */
    bool small, few_products; /* whole: each sum runs over the whole batch and becomes dW where it is made */
    small_grad_w groups;      /* of small images */
    winograd_grad_w winograd; /* with few products */
} grad_w_plan;

static grad_w_plan plan(const gr_call *call, const gr_geometry *g, const conv_dz *dz, void *base)
{
    const gr_tensor *w = call->in[1];
    const bool colours = conv_pooled_colours(g, &dz->pool), wide = conv_pooled_wide(g, dz), pooled = colours || wide;
    grad_w_plan f = {.in = conv_input_of(g, call->in[0]->type),
                     .colours = colours,
                     .wide = wide,
                     .x = call->in[0]->data,
                     .dw = {gr__f32(call->d_in[1]), w->shape[0], w->count / w->shape[0], call->accumulate >> 1 & 1},
                     .db = gr__f32(call->d_in[2]),
                     .accumulate_b = call->accumulate >> 2 & 1};
    f.panels = ceil_div(f.dw.k, PANEL);
    f.rows = conv_unit_rows(g->n, g->p, colours ? 2 * f.in.pitch : g->q * PANEL); /* colours: half of it is dY */
    f.rows = min64(g->p, round_up(f.rows, 2)); /* whole windows of the usual pooling */
    f.blocks = ceil_div(g->p, f.rows);
    f.units = g->n * f.blocks;
    f.x_strip = round_up(conv_strip(&f.in, f.rows), 16);
    f.list_room = f.wide ? conv_pooled_wide_room(f.rows, &dz->pool) : 0;
    f.dz_strip = pooled ? LONGEST * f.list_room * (int64_t)(sizeof(winner) / sizeof(float)) : f.rows * g->q * PANEL;
    f.parts = min64(conv_chunks(f.units, f.panels * (f.x_strip + f.dz_strip + f.dw.r_s_c * PANEL)),
                    ceil_div(CONV_CHUNKS / 2, f.panels));
    f.few_products = !pooled && winograd_grad_w_fits(call, g);
    f.small = !pooled && !f.few_products && conv_small_grad_w_fits(g, f.dw.k);
    const bool whole = f.small || f.few_products;
    if (whole)
        f.parts = 1;
    scratch s = {.base = base};
    const int64_t chunks = f.parts * f.panels;
    f.x_strips = scratch_take(&s, whole ? 0 : chunks * f.x_strip);
    f.dz_strips = scratch_take(&s, whole ? 0 : chunks * f.dz_strip);
    f.dw_parts = scratch_take(&s, whole ? 0 : chunks * f.dw.r_s_c * PANEL);
    f.db_parts = scratch_take(&s, chunks * PANEL);
    if (f.few_products) {
        f.winograd = (winograd_grad_w){
            .g = *g, .x = {.dy = f.x, .p = g->h, .q = g->w, .k = g->c}, .dw = f.dw, .db = f.db ? f.db_parts : NULL};
        winograd_grad_w_plan(&f.winograd, &s);
    } else if (f.small) {
        f.groups = (small_grad_w){.g = *g, .x = f.x, .dw = f.dw, .db = f.db ? f.db_parts : NULL};
        small_grad_w_plan(&f.groups, &s);
    }
    f.bytes = s.used;
    return f;
}

/* Adds a unit of output rows, from its windows over x and its dz[rows][Q][PANEL], to dw[R*S*C][PANEL]. */
static void add_unit(const grad_w_plan *f, const float *x, const float *dz, int64_t rows, float *dw)
{
    const gr_geometry *g = &f->in.g;
    tile t = {.a_row = 1,
              .a_step = g->stride_w * g->c,
              .a_segment = g->stride_h * f->in.pitch,
              .b = dz,
              .b_step = PANEL,
              .b_segment = g->q * PANEL,
              .depth = g->q,
              .segments = rows,
              .c_row = PANEL,
              .width = PANEL,
              .alpha = 1,
              .accumulate = true};
    for (int64_t r = 0; r < g->r; r++) {
        t.a = x + r * f->in.pitch;
        t.c = dw + r * g->s * g->c * PANEL;
        tile_rows(&t, g->s * g->c);
    }
}

/* Adds a unit to dw and db from its windows over x and dz. */
static void add_dz(const grad_w_plan *f, const conv_box *box, float *strip, float *dz, float *dw, float *db)
{
    const int64_t rows = box->row.end - box->row.begin;
    conv_dz_fill(f->dz, box, dz, PANEL, PANEL);
    if (f->db)
        conv_add_rows(dz, rows * f->in.g.q, db);
    if (f->dw.dw)
        add_unit(f, conv_rows(&f->in, f->x, box->n, box->row.begin, rows, strip), dz, rows, dw);
}

/* The same from the winners. */
static void add_winners(const grad_w_plan *f, const conv_box *box, float *strip, float *lists, float *dw, float *db)
{
    const float *x = conv_rows(&f->in, f->x, box->n, box->row.begin, box->row.end - box->row.begin, strip);
    const int64_t next = f->blocks == 1 ? f->in.g.h : box->row.end - box->row.begin;
    const pooled_unit unit = {
        f->dz, *box, x, f->in.pitch, conv_ahead(&f->in, f->x, box->n, box->row.end, next), dw, f->db ? db : NULL};
    if (f->colours)
        conv_pooled_colours_add(&unit);
    else
        conv_pooled_wide_add(&unit, f->in.g.c, (winner *)lists, f->list_room);
}

/* Chunk (part, panel): the partial sums of a part of the batch for a panel of filters. */
static void sum_chunk(void *arg, int64_t chunk)
{
    const grad_w_plan *f = arg;
    const int64_t k = chunk % f->panels * PANEL;
    const span units = part_of(f->units, chunk / f->panels, f->parts);
    float *dz = f->dz_strips + chunk * f->dz_strip, *strip = f->x_strips + chunk * f->x_strip;
    float *dw = f->dw_parts + chunk * f->dw.r_s_c * PANEL, *db = f->db_parts + chunk * PANEL;
    memset(dw, 0, (size_t)(f->dw.r_s_c * PANEL) * sizeof *dw);
    memset(db, 0, PANEL * sizeof *db);
    for (int64_t unit = units.begin; unit < units.end; unit++) {
        const int64_t n = unit / f->blocks;
        const span p = {unit % f->blocks * f->rows, min64(f->in.g.p, (unit % f->blocks + 1) * f->rows)};
        const conv_box box = {n, p, {0, f->in.g.q}, {k, min64(f->dw.k, k + PANEL)}};
        (f->colours || f->wide ? add_winners : add_dz)(f, &box, strip, dz, dw, db);
    }
}

/* First part [count] += the other parts, in order. */
static void add_parts(float *parts, int64_t pitch, int64_t n, int64_t count)
{
    for (int64_t part = 1; part < n; part++)
        for (int64_t i = 0; i < count; i += VL) {
            const int64_t width = min64(VL, count - i);
            const vec sum = vec_load_n(parts + i, width) + vec_load_n(parts + part * pitch + i, width);
            vec_store_n(parts + i, sum, width);
        }
}

/* d[count] (+)= from */
static void give(float *d, const float *from, int64_t count, bool accumulate)
{
    for (int64_t i = 0; i < count; i++)
        d[i] = (accumulate ? d[i] : 0) + from[i];
}

enum { COMBINE = 4 * VL }; /* rows of dW's R*S*C that a combining chunk takes */

/* Chunk (panel, block of R*S*C): adds the parts up and turns them into rows of dW[K,R,S,C]. */
static void combine_chunk(void *arg, int64_t chunk)
{
    const grad_w_plan *f = arg;
    const int64_t blocks = ceil_div(f->dw.r_s_c, COMBINE), panel = chunk / blocks, d = chunk % blocks * COMBINE;
    const int64_t count = min64(COMBINE, f->dw.r_s_c - d);
    float *sums = f->dw_parts + (panel * f->dw.r_s_c + d) * PANEL;
    add_parts(sums, f->panels * f->dw.r_s_c * PANEL, f->parts, count * PANEL);
    conv_give(&f->dw, panel, d, count, sums);
}

/* Chunk: one filter, whose sums lie in the order of dW. */
static void combine_filter(void *arg, int64_t k)
{
    const grad_w_plan *f = arg;
    float *sums = f->dw_parts + k * f->dw.r_s_c;
    add_parts(sums, f->panels * PANEL * f->dw.r_s_c, f->parts, f->dw.r_s_c);
    give(f->dw.dw + k * f->dw.r_s_c, sums, f->dw.r_s_c, f->dw.accumulate);
}

static void combine_bias(const grad_w_plan *f)
{
    add_parts(f->db_parts, f->panels * PANEL, f->parts, f->panels * PANEL);
    give(f->db, f->db_parts, f->dw.k, f->accumulate_b);
}

/* Sums of parts of the batch, and these put together. */
static void run_parts(const gr_exec *exec, grad_w_plan *f)
{
    gr_parallel_for(exec, f->parts * f->panels, sum_chunk, f);
    if (f->dw.dw && (f->wide || (f->colours && COLOURS_BY_FILTER)))
        gr_parallel_for(exec, f->dw.k, combine_filter, f);
    else if (f->dw.dw)
        gr_parallel_for(exec, f->panels * ceil_div(f->dw.r_s_c, COMBINE), combine_chunk, f);
}

void conv_grad_w(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    grad_w_plan f = plan(call, g, dz, call->exec->scratch);
    f.dz = dz;
    if (f.few_products) {
        f.winograd.dz = *dz;
        winograd_grad_w_run(call->exec, &f.winograd);
    } else if (f.small) {
        f.groups.dz = *dz;
        small_grad_w_run(call->exec, &f.groups);
    } else
        run_parts(call->exec, &f);
    if (f.db)
        combine_bias(&f);
}

size_t conv_grad_w_scratch(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    return call->d_in[1] || call->d_in[2] ? plan(call, g, dz, NULL).bytes : 0;
}
