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

const char *gr_ladder_rung_name(const gr_context *ctx, int rung)
{
    const gr_rung *r = rungs_of(ctx);
    for (int i = 0; r && r->name && i < rung; i++)
        r++;
    return r ? r->name : NULL;
}

/* A float matrix of this context's device, in memory. */
static bool is_matrix(const gr_context *ctx, const gr_tensor *t)
{
    return t && t->ctx == ctx && t->type == GR_F32 && t->ndim == 2 && t->data;
}

bool gr_ladder_run(gr_context *ctx, int rung, gr_tensor *c, const gr_tensor *a, const gr_tensor *b,
                   gr_trace_event *event)
{
    if (!gr_ok(ctx))
        return false;
    const char *name = rung < 0 ? NULL : gr_ladder_rung_name(ctx, rung);
    if (!name)
        return gr__fail(ctx, GR_USAGE,
                        "gr_ladder_run: the device %s has no rung %d; take the device cuda or simt and count from 0",
                        ctx->device->name, rung);
    if (!is_matrix(ctx, a) || !is_matrix(ctx, b) || !is_matrix(ctx, c) || a->shape[1] != b->shape[0] ||
        c->shape[0] != a->shape[0] || c->shape[1] != b->shape[1])
        return gr__fail(ctx, GR_USAGE,
                        "gr_ladder_run: c[m,n] = a[m,k] b[k,n] of three f32 matrices of one context is wanted");
    gr_device *d = ctx->device;
    const int64_t m = c->shape[0], n = c->shape[1], k = a->shape[1];
    *event = (gr_trace_event){
        .op = "ladder", .module = name, .pass = "forward", .flops = 2.0 * (double)m * (double)n * (double)k};
    if (d->count_begin)
        d->count_begin(d);
    event->begin = gr__seconds();
    rungs_of(ctx)[rung].run(c->data, a->data, b->data, m, n, k, d->queue);
    if (d->wait)
        d->wait(d);
    event->end = gr__seconds();
    if (d->count_end)
        event->count = d->count_end(d);
    const char *why = d->fault ? d->fault(d) : NULL;
    return !why || gr__fail(ctx, GR_DEVICE_FAULT, "device %s: %s, in or before rung %s", d->name, why, name);
}
