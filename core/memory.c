/* memory.c - the two lifetimes of device memory, the dry run, and the limit over both. */
#include <stdio.h>

#include "core/trace.h"

static void note_peak(gr_context *ctx)
{
    if (ctx->persistent > ctx->persistent_peak)
        ctx->persistent_peak = ctx->persistent;
    if (ctx->persistent + ctx->step_bytes > ctx->peak)
        ctx->peak = ctx->persistent + ctx->step_bytes;
}

/* "1.50 GiB", "812 KiB" into text, which is returned. */
static const char *size_text(int64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    snprintf(text, 32, "%.*f %s", unit == 0 ? 0 : size < 10 ? 2 : size < 100 ? 1 : 0, size, units[unit]);
    return text;
}

/* Whether so many bytes more stay within the limit. False: recorded. */
static bool within_limit(gr_context *ctx, int64_t bytes, const char *what)
{
    const int64_t in_use = ctx->persistent + ctx->step_bytes, limit = ctx->options.memory_limit;
    char text[3][32];
    if (limit <= 0 || bytes <= limit - in_use)
        return true;
    return gr__fail(ctx, GR_NO_MEMORY,
                    "out of memory: %s needs %s, but %s of the memory limit of %s are taken; use a smaller batch or a "
                    "higher limit",
                    what, size_text(bytes, text[0]), size_text(in_use, text[1]), size_text(limit, text[2]));
}

/* Takes device memory within the limit. False: recorded. */
static bool device_alloc(gr_context *ctx, int64_t bytes, const char *what, void **p)
{
    *p = NULL;
    if (!gr_ok(ctx) || !within_limit(ctx, bytes, what))
        return false;
    if (ctx->options.plan_only)
        return true;
    const int64_t in_use = ctx->persistent + ctx->step_bytes;
    char text[2][32];
    gr_device *d = ctx->device;
    *p = d->alloc(d, (size_t)bytes);
    if (!*p && d->fault && d->fault(d))
        return gr__device_failed(ctx, "taking memory");
    if (!*p)
        return gr__fail(ctx, GR_NO_MEMORY,
                        "out of memory: %s needs %s and the device %s gives no more (%s in use); use a smaller batch",
                        what, size_text(bytes, text[0]), ctx->device->name, size_text(in_use, text[1]));
    return true;
}

bool gr__persistent_alloc(gr_context *ctx, size_t bytes, const char *what, void **p)
{
    if (!device_alloc(ctx, (int64_t)bytes, what, p))
        return false;
    ctx->persistent += (int64_t)bytes;
    note_peak(ctx);
    return true;
}

void gr__persistent_free(gr_context *ctx, void *p, size_t bytes)
{
    if (p)
        ctx->device->free(ctx->device, p, bytes);
    ctx->frees++;
    ctx->persistent -= (int64_t)bytes;
}

static void drop_chunks(gr_context *ctx)
{
    for (int i = 0; i < gr__arena_chunks(ctx->arena); i++)
        ctx->device->free(ctx->device, gr__arena_base(ctx->arena, i), (size_t)gr__arena_chunk_size(ctx->arena, i));
    gr__arena_drop_chunks(ctx->arena);
    ctx->frees++;
    ctx->step_bytes = 0;
}

static bool add_chunk(gr_context *ctx, int64_t bytes)
{
    void *base;
    if (!device_alloc(ctx, bytes, "this step", &base))
        return false;
    if (!ctx->options.plan_only && !gr__arena_add_chunk(ctx->arena, base, bytes)) {
        ctx->device->free(ctx->device, base, (size_t)bytes);
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the step arena");
    }
    ctx->step_bytes += bytes;
    note_peak(ctx);
    return true;
}

/* Whether a step's memory comes from the program's own allocator; a dry run needs none. */
static bool is_lent(const gr_context *ctx)
{
    return ctx->lent.from && !ctx->planning;
}

bool gr__step_reserve(gr_context *ctx, int64_t bytes)
{
    if (is_lent(ctx))
        return true;
    if (ctx->options.plan_only) {
        if (bytes > ctx->step_bytes)
            return add_chunk(ctx, bytes - ctx->step_bytes);
        return true;
    }
    bool fits = gr__arena_chunks(ctx->arena) == 1 && gr__arena_chunk_size(ctx->arena, 0) >= bytes;
    if (fits || bytes == 0)
        return true;
    drop_chunks(ctx);
    return add_chunk(ctx, bytes);
}

static bool borrow(gr_context *ctx, size_t bytes, gr_block *block, void **address)
{
    char text[32];
    if (!within_limit(ctx, (int64_t)bytes, "a tensor of this step"))
        return false;
    if (!gr__lent_take(&ctx->lent, bytes, block, address))
        return gr__fail(ctx, GR_NO_MEMORY, "out of memory: the allocator gives no %s for a tensor; use a smaller batch",
                        size_text((int64_t)bytes, text));
    ctx->step_bytes = ctx->lent.bytes;
    note_peak(ctx);
    return true;
}

bool gr__step_alloc(gr_context *ctx, size_t bytes, gr_block *block, void **address)
{
    *address = NULL;
    *block = (gr_block){0};
    if (!gr_ok(ctx))
        return false;
    if (is_lent(ctx))
        return borrow(ctx, bytes, block, address);
    gr_arena *arena = ctx->planning ? ctx->plan : ctx->arena;
    if (!gr__arena_alloc(arena, bytes, block)) {
        /* A step without a plan: take what is missing now; gr_step_end joins the pieces for the next one. */
        int64_t size = ((int64_t)bytes / GR__ALIGN + 1) * GR__ALIGN;
        if (ctx->planning || bytes > (size_t)INT64_MAX / 2 || !add_chunk(ctx, size) ||
            !gr__arena_alloc(arena, bytes, block))
            return gr__fail(ctx, GR_NO_MEMORY, "out of memory: a tensor of %zu bytes cannot be placed", bytes);
    }
    *address = gr__arena_address(arena, block);
    return true;
}

void gr__step_free(gr_context *ctx, const gr_block *block)
{
    if (is_lent(ctx)) {
        gr__lent_give(&ctx->lent, block);
        ctx->step_bytes = ctx->lent.bytes;
        return;
    }
    gr__arena_free(ctx->planning ? ctx->plan : ctx->arena, block);
}

void gr__step_reset(gr_context *ctx)
{
    gr__tape_drop(ctx);
    for (int i = 0; i < ctx->n_headers; i++)
        gr__handle_free(&ctx->step_handles, ctx->headers[i]);
    ctx->n_headers = 0;
    ctx->steps++;
    gr__arena_reset(ctx->arena);
    gr__arena_reset(ctx->plan);
    if (is_lent(ctx)) {
        gr__lent_end(&ctx->lent);
        ctx->step_bytes = 0;
    }
}

int64_t gr__step_take_most(gr_context *ctx)
{
    return is_lent(ctx) ? gr__lent_take_most(&ctx->lent) : gr__arena_take_most(ctx->planning ? ctx->plan : ctx->arena);
}

void gr_step_end(gr_context *ctx)
{
    if (!ctx || !ctx->device)
        return;
    const int64_t peak = is_lent(ctx) ? ctx->lent.peak : gr__arena_peak(ctx->planning ? ctx->plan : ctx->arena);
    if (peak > ctx->step_peak)
        ctx->step_peak = peak;
    gr__step_reset(ctx);
    if (gr_ok(ctx) && gr__arena_chunks(ctx->arena) > 1)
        gr__step_reserve(ctx, peak);
}

void gr_plan_begin(gr_context *ctx)
{
    if (!gr_ok(ctx))
        return;
    gr__step_reset(ctx);
    gr__arena_reset_peak(ctx->plan);
    ctx->planning = true;
}

int64_t gr_plan_end(gr_context *ctx)
{
    if (!ctx || !ctx->device)
        return -1;
    gr_step_end(ctx);
    int64_t peak = gr__arena_peak(ctx->plan);
    ctx->planning = ctx->options.plan_only;
    return gr_ok(ctx) && gr__step_reserve(ctx, peak) ? peak : -1;
}

gr_memory gr_memory_use(const gr_context *ctx)
{
    if (!ctx)
        return (gr_memory){0};
    return (gr_memory){ctx->persistent, ctx->persistent_peak, ctx->step_peak, ctx->peak, ctx->options.memory_limit};
}

bool gr__state_write(gr_context *ctx)
{
    if (ctx->options.plan_only || !ctx->device_state || ctx->capturing)
        return gr_ok(ctx);
    const size_t bytes = ctx->scaler ? offsetof(gr_step_state, loss_scale) : sizeof ctx->state;
    const double begin = gr_span_begin(ctx, "step state");
    const bool written = ctx->device->upload(ctx->device, ctx->device_state, &ctx->state, bytes);
    gr__trace_copy(ctx, "step state", bytes, begin);
    return written ? gr_ok(ctx) : gr__device_failed(ctx, "the step state was written");
}

void gr_set_update_weight(gr_context *ctx, double weight)
{
    if (!gr_ok(ctx))
        return;
    ctx->state.inv_weight = weight > 0 ? 1 / weight : 0;
    gr__state_write(ctx);
}
