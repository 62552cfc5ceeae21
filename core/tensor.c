/* tensor.c - making, reading and releasing tensors. */
#include "core/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/precision.h"
#include "core/trace.h"

static const struct {
    const char *name;
    size_t size;
} types[GR_TYPE_COUNT] = {[GR_F32] = {"f32", 4}, [GR_F64] = {"f64", 8}, [GR_F16] = {"f16", 2}, [GR_BF16] = {"bf16", 2},
                          [GR_U8] = {"u8", 1},   [GR_I32] = {"i32", 4}, [GR_I64] = {"i64", 8}};

static bool is_type(gr_type type)
{
    return type >= GR_F32 && type < GR_TYPE_COUNT;
}

const char *gr_type_name(gr_type type)
{
    return is_type(type) ? types[type].name : "?";
}

size_t gr_type_size(gr_type type)
{
    return is_type(type) ? types[type].size : 0;
}

void gr__shape_text(const gr_tensor *t, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "[");
    for (int i = 0; t && i < t->ndim && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, i ? ",%lld" : "%lld", (long long)t->shape[i]);
    if (at < size)
        snprintf(text + at, size - at, "]");
}

bool gr__shape_check(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    if (!is_type(type))
        return gr__fail(ctx, GR_USAGE, "a tensor cannot have type number %d; types are GR_F32, GR_F16, GR_I32, ...",
                        (int)type);
    if (ndim < 0 || ndim > GR_MAX_DIMS)
        return gr__fail(ctx, GR_USAGE, "a tensor has 0 to %d dimensions, not %d", GR_MAX_DIMS, ndim);
    if (ndim > 0 && !shape)
        return gr__fail(ctx, GR_USAGE, "the shape of a tensor is NULL; it has a number for each of %d dimensions",
                        ndim);
    int64_t bytes = (int64_t)gr_type_size(type);
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 1)
            return gr__fail(ctx, GR_USAGE, "dimension %d of a tensor is %lld; it must be at least 1", i,
                            (long long)shape[i]);
        if (__builtin_mul_overflow(bytes, shape[i], &bytes) || bytes > INT64_MAX / 4)
            return gr__fail(ctx, GR_USAGE,
                            "a tensor of %d dimensions with %lld rows in dimension %d has too many bytes to count",
                            ndim, (long long)shape[i], i);
    }
    return true;
}

/* Fills in everything but storage. */
static void describe(gr_tensor *t, gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    *t = (gr_tensor){.ctx = ctx, .type = type, .ndim = ndim, .count = 1, .node = -1};
    for (int i = 0; i < GR_MAX_DIMS; i++) {
        t->shape[i] = i < ndim ? shape[i] : 1;
        t->count *= t->shape[i];
    }
}

static void destroy_persistent(void *object)
{
    gr_tensor *t = object;
    if (t->block.size) /* otherwise the storage is somebody else's */
        gr__persistent_free(t->ctx, t->data, gr__bytes(t));
    gr__handle_free(&t->ctx->handles, t);
}

gr_tensor *gr__tensor_over(gr_context *ctx, gr_type type, int ndim, const int64_t *shape, void *data)
{
    gr_tensor *t = gr__handle_new(ctx, &ctx->handles);
    if (!t)
        return NULL;
    describe(t, ctx, type, ndim, shape);
    t->lifetime = GR__PERSISTENT;
    t->data = data;
    return gr__own(ctx, t, destroy_persistent) ? t : NULL;
}

gr_tensor *gr__tensor_persistent(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    gr_tensor *t = gr__tensor_over(ctx, type, ndim, shape, NULL);
    if (!t || !gr__persistent_alloc(ctx, gr__bytes(t), "a tensor", &t->data))
        return NULL;
    t->block.size = (int64_t)gr__bytes(t);
    return t;
}

/* A header until the step ends. */
static gr_tensor *step_header(gr_context *ctx)
{
    if (!gr__grow(ctx, &ctx->headers, &ctx->cap_headers, ctx->n_headers + 1, sizeof *ctx->headers))
        return NULL;
    gr_tensor *t = gr__handle_new(ctx, &ctx->step_handles);
    if (t)
        ctx->headers[ctx->n_headers++] = t;
    return t;
}

gr_tensor *gr__tensor_step(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    gr_tensor *t = gr_ok(ctx) ? step_header(ctx) : NULL;
    if (!t)
        return NULL;
    describe(t, ctx, type, ndim, shape);
    t->lifetime = GR__STEP;
    return gr__step_alloc(ctx, gr__bytes(t), &t->block, &t->data) ? t : NULL;
}

gr_tensor *gr__tensor_alias(gr_tensor *t, int ndim, const int64_t *shape)
{
    gr_tensor *alias = gr_ok(t->ctx) ? step_header(t->ctx) : NULL;
    if (!alias)
        return NULL;
    describe(alias, t->ctx, t->type, ndim, shape);
    alias->lifetime = GR__ALIAS;
    alias->data = t->data;
    return alias;
}

void gr__release(gr_tensor *t)
{
    if (t && t->lifetime != GR__PERSISTENT)
        t->ctx->mixed->release_half(t);
    if (t && t->lifetime == GR__ALIAS) /* whoever owns the storage may give it back any time */
        t->data = NULL;
    if (!t || t->lifetime != GR__STEP || !t->block.size)
        return;
    gr__step_free(t->ctx, &t->block);
    t->block.size = 0;
    t->data = NULL;
}

void gr__transfer_storage(gr_tensor *t, gr_tensor *alias)
{
    if (t->lifetime != GR__STEP)
        return;
    alias->lifetime = GR__STEP;
    alias->block = t->block;
    t->lifetime = GR__ALIAS;
    t->block.size = 0;
}

gr_tensor *gr_tensor_new(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    if (!gr_ok(ctx) || !gr__shape_check(ctx, type, ndim, shape))
        return NULL;
    return gr__tensor_persistent(ctx, type, ndim, shape);
}

static gr_tensor *leaf(gr_context *ctx, gr_type type, int ndim, const int64_t *shape)
{
    gr_tensor *t = gr_tensor_new(ctx, type, ndim, shape);
    return t && gr__add_leaf(ctx, t) ? t : NULL;
}

gr_tensor *gr_variable(gr_context *ctx, int ndim, const int64_t *shape)
{
    return leaf(ctx, gr_real(ctx), ndim, shape);
}

gr_tensor *gr_activation(gr_context *ctx, int ndim, const int64_t *shape)
{
    return leaf(ctx, gr_compute_type(ctx), ndim, shape);
}

gr_type gr_type_of(const gr_tensor *t)
{
    return gr__alive(t, "gr_type_of") ? t->type : GR_F32;
}

int gr_ndim(const gr_tensor *t)
{
    return gr__alive(t, "gr_ndim") ? t->ndim : 0;
}

int64_t gr_dim(const gr_tensor *t, int i)
{
    return gr__alive(t, "gr_dim") && i >= 0 && i < t->ndim ? t->shape[i] : 0;
}

int64_t gr_count(const gr_tensor *t)
{
    return gr__alive(t, "gr_count") ? t->count : 0;
}

/* Whether t has storage that the function named can copy to or from now. */
static bool reachable(const gr_tensor *t, const char *function)
{
    if (!gr__alive(t, function) || !gr_ok(t->ctx))
        return false;
    if (t->data || t->ctx->planning)
        return true;
    return gr__fail(
        t->ctx, GR_USAGE,
        "%s: the storage of the tensor was given back: after gr_backward only the loss and the gradients may be read",
        function);
}

/* Whether the caller gave memory to copy to or from. */
static bool is_given(const gr_tensor *t, const void *host, const char *function)
{
    return host || gr__fail(t->ctx, GR_USAGE, "%s: host is NULL; it must be an array of %lld elements of type %s",
                            function, (long long)t->count, gr_type_name(t->type));
}

bool gr_upload(gr_tensor *t, const void *host)
{
    if (!reachable(t, "gr_upload") || !is_given(t, host, "gr_upload"))
        return false;
    t->ctx->mixed->invalidate_half(t);
    if (!t->data)
        return true; /* planning */
    gr_device *d = t->ctx->device;
    const double begin = gr_span_begin(t->ctx, "upload");
    const bool copied = d->upload(d, t->data, host, gr__bytes(t));
    gr__trace_copy(t->ctx, "upload", gr__bytes(t), begin);
    return copied || gr__device_failed(t->ctx, "a tensor was copied to it");
}

static bool download(const gr_tensor *t, void *host, const char *function)
{
    if (!reachable(t, function) || !is_given(t, host, function) || !t->data)
        return false;
    gr_device *d = t->ctx->device;
    const double begin = gr_span_begin(t->ctx, "download");
    const bool copied = d->download(d, host, t->data, gr__bytes(t));
    gr__trace_copy(t->ctx, "download", gr__bytes(t), begin);
    return copied || gr__device_failed(t->ctx, "a tensor was copied from it");
}

bool gr_download(const gr_tensor *t, void *host)
{
    return download(t, host, "gr_download");
}

double gr_item(const gr_tensor *t)
{
    if (!gr__alive(t, "gr_item") || !gr_ok(t->ctx))
        return NAN;
    if (t->count != 1) {
        char shape[96];
        gr__shape_text(t, shape, sizeof shape);
        gr__fail(t->ctx, GR_USAGE, "gr_item wants a tensor of one element, not %s", shape);
        return NAN;
    }
    union {
        float f32;
        double f64;
        int32_t i32;
        uint8_t u8;
    } value;
    if (!download(t, &value, "gr_item"))
        return NAN;
    switch (t->type) {
    case GR_F32:
        return (double)value.f32;
    case GR_F64:
        return value.f64;
    case GR_I32:
        return value.i32;
    case GR_U8:
        return value.u8;
    default:
        gr__fail(t->ctx, GR_USAGE, "gr_item does not read type %s", gr_type_name(t->type));
        return NAN;
    }
}
