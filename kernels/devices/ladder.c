/*
 * ladder.c - runs a rung of kernels/cuda/ladder on a context's device, as a traced operation is run: timed and counted.
 */
#include "kernels/cuda/ladder/ladder.h"

#include <string.h>

#include "core/clock.h"
#include "core/context.h"
#include "kernels/ops/updates.h"

/* The rungs of a device that runs CUDA kernels; NULL for another. */
static const gr_rung *rungs_of(const gr_context *ctx)
{
    const char *device = gr_device_name(ctx);
    return !strcmp(device, "cuda") ? gr__cuda_ladder : !strcmp(device, "simt") ? gr__simt_ladder : NULL;
}

/* A rung by its number; NULL: there is none. */
static const gr_rung *rung_of(const gr_context *ctx, int rung)
{
    const gr_rung *r = rung < 0 ? NULL : rungs_of(ctx);
    for (int i = 0; r && r->name && i < rung; i++)
        r++;
    return r && r->name ? r : NULL;
}

const char *gr_ladder_rung_name(const gr_context *ctx, int rung)
{
    const gr_rung *r = rung_of(ctx, rung);
    return r ? r->name : NULL;
}

gr_type gr_ladder_rung_type(const gr_context *ctx, int rung)
{
    const gr_rung *r = rung_of(ctx, rung);
    return r && r->halves ? GR_F16 : GR_F32;
}

const char *gr_ladder_rung_lacks(const gr_context *ctx, int rung)
{
    const gr_rung *r = rung_of(ctx, rung);
    const char *isa = gr_isa_name(ctx); /* of a GPU: sm_90 */
    if (!r || !r->hopper || strncmp(isa, "sm_", 3) != 0)
        return NULL;
    if (strcmp(isa, "sm_90") != 0)
        return "a GPU of compute capability 9.0";
    return r->run ? NULL : "a build with code for sm_90a (-DCMAKE_CUDA_ARCHITECTURES=90a-real)";
}

/* A matrix of this context's device, in memory. */
static bool is_matrix(const gr_context *ctx, const gr_tensor *t, gr_type type)
{
    return t && t->ctx == ctx && t->type == type && t->ndim == 2 && t->data;
}

/* Whether the matrices are what a rung takes. False: recorded. */
static bool check_matrices(gr_context *ctx, const gr_rung *r, const gr_tensor *c, const gr_tensor *a,
                           const gr_tensor *b)
{
    const gr_type type = r->halves ? GR_F16 : GR_F32;
    if (!is_matrix(ctx, a, type) || !is_matrix(ctx, b, type) || !is_matrix(ctx, c, GR_F32) ||
        a->shape[1] != b->shape[0] || c->shape[0] != a->shape[0] || c->shape[1] != b->shape[1])
        return gr__fail(ctx, GR_USAGE,
                        "gr_ladder_run: c[m,n] = a[m,k] b[k,n] of three matrices of one context is wanted, c of f32, a "
                        "and b of %s",
                        r->halves ? "f16" : "f32");
    if (c->shape[0] % r->tile || c->shape[1] % r->tile || a->shape[1] % r->step)
        return gr__fail(ctx, GR_USAGE, "gr_ladder_run: %s takes m and n that are multiples of %d and k of %d", r->name,
                        r->tile, r->step);
    return true;
}

bool gr_ladder_run(gr_context *ctx, int rung, gr_tensor *c, const gr_tensor *a, const gr_tensor *b,
                   gr_trace_event *event)
{
    if (!gr_ok(ctx))
        return false;
    const gr_rung *r = rung_of(ctx, rung);
    if (!r)
        return gr__fail(ctx, GR_USAGE,
                        "gr_ladder_run: the device %s has no rung %d; take the device cuda or simt and count from 0",
                        ctx->device->name, rung);
    const char *lacks = gr_ladder_rung_lacks(ctx, rung);
    if (lacks)
        return gr__fail(ctx, GR_USAGE, "gr_ladder_run: %s wants %s", r->name, lacks);
    if (!check_matrices(ctx, r, c, a, b))
        return false;
    gr_device *d = ctx->device;
    const int64_t m = c->shape[0], n = c->shape[1], k = a->shape[1];
    *event = (gr_trace_event){
        .op = "ladder", .module = r->name, .pass = "forward", .flops = 2.0 * (double)m * (double)n * (double)k};
    if (d->count_begin)
        d->count_begin(d);
    event->begin = gr__seconds();
    r->run(c->data, a->data, b->data, m, n, k, d->queue);
    if (d->wait)
        d->wait(d);
    event->end = gr__seconds();
    if (d->count_end)
        event->count = d->count_end(d);
    const char *why = d->fault ? d->fault(d) : NULL;
    return !why || gr__fail(ctx, GR_DEVICE_FAULT, "device %s: %s, in or before rung %s", d->name, why, r->name);
}
