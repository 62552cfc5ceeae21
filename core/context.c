/* context.c - opening and closing a context, and what it tells of itself. */
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/parallel.h"
#include "core/precision.h"

const char *gr_version(void)
{
    return GR_VERSION;
}

/* The memory that every context needs on its device: the step state and the constant that starts a backward pass. */
static bool set_up(gr_context *ctx)
{
    if (!gr__persistent_alloc(ctx, sizeof(gr_step_state), "the step state", &ctx->device_state))
        return false;
    ctx->state = (gr_step_state){.lr = 0, .loss_scale = 1, .seed = ctx->options.seed};
    ctx->one = gr_tensor_new(ctx, ctx->device->real, 0, NULL);
    float one = 1;
    double wide = 1;
    return gr_upload(ctx->one, gr_real(ctx) == GR_F64 ? (void *)&wide : (void *)&one) && gr__state_write(ctx) &&
           (ctx->options.precision != GR_PRECISION_FP16 || ctx->mixed->open_scaler(ctx));
}

/* Without its arenas a context has no device either: it is one that can do nothing but tell why. */
static bool make_arenas(gr_context *ctx)
{
    ctx->arena = gr__arena_create();
    ctx->plan = gr__arena_create();
    if (ctx->arena && ctx->plan && gr__arena_add_chunk(ctx->plan, NULL, INT64_MAX / 2))
        return true;
    ctx->device->close(ctx->device);
    ctx->device = NULL;
    return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the arenas of a context");
}

gr_context *gr__context_open(const gr_options *options, gr_device *device, const gr_mixed_precision *mixed)
{
    gr_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx) {
        if (device)
            device->close(device);
        return NULL;
    }
    if (options)
        ctx->options = *options;
    ctx->device = device;
    ctx->mixed = mixed;
    ctx->module = "";
    ctx->recording = true;
    ctx->planning = ctx->options.plan_only;
    ctx->lent.from = ctx->options.allocator;
    ctx->compute = mixed->compute_type(ctx->options.precision, device ? device->real : GR_F32);
    if (device && make_arenas(ctx))
        set_up(ctx);
    return ctx;
}

bool gr__own(gr_context *ctx, void *object, void (*destroy)(void *object))
{
    gr_owned *link = object ? gr__calloc(ctx, 1, sizeof *link) : NULL;
    if (!link) {
        if (object)
            destroy(object);
        return false;
    }
    *link = (gr_owned){ctx->owned, object, destroy};
    ctx->owned = link;
    return true;
}

const char *gr__keep_text(gr_context *ctx, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = gr__calloc(ctx, size, 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, size);
    return gr__own(ctx, copy, free) ? copy : NULL;
}

void gr__disown(gr_context *ctx, void *object)
{
    for (gr_owned **link = &ctx->owned; *link; link = &(*link)->next) {
        gr_owned *found = *link;
        if (found->object != object)
            continue;
        *link = found->next;
        found->destroy(object);
        free(found);
        return;
    }
}

static void free_owned(gr_context *ctx)
{
    while (ctx->owned) {
        gr_owned *link = ctx->owned;
        ctx->owned = link->next;
        link->destroy(link->object);
        free(link);
    }
}

int gr_close(gr_context *ctx)
{
    if (!ctx)
        return GR_NO_MEMORY;
    int code = ctx->code;
    free_owned(ctx);
    gr__lent_close(&ctx->lent);
    if (ctx->device) {
        for (int i = 0; ctx->arena && i < gr__arena_chunks(ctx->arena); i++)
            ctx->device->free(ctx->device, gr__arena_base(ctx->arena, i), (size_t)gr__arena_chunk_size(ctx->arena, i));
        gr__persistent_free(ctx, ctx->device_state, sizeof(gr_step_state));
        ctx->device->close(ctx->device);
    }
    gr__arena_destroy(ctx->arena);
    gr__arena_destroy(ctx->plan);
    gr__handles_close(&ctx->handles);
    gr__handles_close(&ctx->step_handles);
    for (int i = 0; i < ctx->cap_nodes; i++)
        free(ctx->nodes[i]);
    free(ctx->headers);
    free(ctx->nodes);
    free(ctx->leaves);
    free(ctx);
    return code;
}

const char *gr_device_name(const gr_context *ctx)
{
    return ctx && ctx->device ? ctx->device->name : "none";
}

const char *gr_isa_name(const gr_context *ctx)
{
    return ctx && ctx->device ? ctx->device->isa : "none";
}

int gr_thread_count(const gr_context *ctx)
{
    return ctx && ctx->device && ctx->device->pool ? gr__pool_threads(ctx->device->pool) : 1;
}

uint64_t gr_seed(const gr_context *ctx)
{
    return ctx ? ctx->options.seed : 0;
}

const char *gr_precision_name(const gr_context *ctx)
{
    const gr_type compute = gr_compute_type(ctx);
    const gr_precision asked = ctx ? ctx->options.precision : GR_PRECISION_DEFAULT;
    if (asked == GR_PRECISION_TF32)
        return "tf32";
    if (asked == GR_PRECISION_BF16X3 || asked == GR_PRECISION_BF16X6)
        return asked == GR_PRECISION_BF16X3 ? "bf16x3" : "bf16x6";
    return compute == GR_F16 ? "fp16" : compute == GR_BF16 ? "bf16" : compute == GR_F64 ? "fp64" : "fp32";
}

gr_type gr_compute_type(const gr_context *ctx)
{
    return ctx ? ctx->compute : GR_F32;
}

gr_type gr_real(const gr_context *ctx)
{
    return ctx && ctx->device ? ctx->device->real : GR_F32;
}

bool gr_record(gr_context *ctx, bool on)
{
    if (!ctx)
        return false;
    bool before = ctx->recording;
    ctx->recording = on;
    return before;
}

bool gr_counts(const gr_context *ctx)
{
    return ctx && ctx->device && ctx->device->count_begin;
}
