/*
 * cast.c - half copies of float tensors. A parameter keeps its float master; its copy lies in a slab of halves beside
 * the slab of masters. A kernel that changes the one may change the other with it; behind any other change one cast
 * brings all copies of a model up to date. Any other float tensor that an operation reads as halves gets a copy for the
 * step.
 */
#include "amp/cast.h"
#include "amp/mixed.h"
#include "core/slab.h"

bool gr__cast(gr_context *ctx, gr_tensor *x, gr_tensor *y)
{
    gr_call call = {.n_in = 1, .n_out = 1, .in = {x}, .out = {y}};
    return gr__run_plain(ctx, ctx->device->cast, &call, GR_FORWARD);
}

/* Copies of all parameters, yet without values. False: recorded. */
static bool make_slab_halves(gr_slab *slab)
{
    gr_context *ctx = slab->ctx;
    gr_tensor *halves = gr__tensor_persistent(ctx, ctx->compute, 1, &slab->values->count);
    for (int i = 0; halves && i < slab->n; i++) {
        gr_segment *s = &slab->segments[i];
        void *data = halves->data ? (char *)halves->data + (size_t)s->offset * gr_type_size(halves->type) : NULL;
        gr_tensor *half = gr__tensor_over(ctx, ctx->compute, s->value->ndim, s->value->shape, data);
        if (!half)
            return false;
        half->master = s->value;
        half->wants_grad = s->value->wants_grad;
        s->value->half = half;
    }
    slab->halves = halves;
    slab->halves_stale = true;
    return halves;
}

bool gr__half_refresh(gr_slab *slab)
{
    gr_context *ctx = slab->ctx;
    if (!slab->halves || !slab->halves_stale)
        return true;
    gr_call call = {.n_in = 1, .n_out = 1, .in = {slab->values}, .out = {slab->halves}};
    const bool cast = gr__run_kernel(ctx, ctx->device->cast, &call, GR_FORWARD);
    slab->halves_stale = !cast || ctx->planning; /* a dry run casts nothing */
    return cast;
}

/* The copy of a parameter. NULL: recorded. */
static gr_tensor *slab_half(gr_tensor *parameter)
{
    gr_slab *slab = parameter->slab;
    return (slab->halves || make_slab_halves(slab)) && gr__half_refresh(slab) ? parameter->half : NULL;
}

/* The copy of a real tensor in the context's half type, made at its first use in a step. NULL: recorded. */
static gr_tensor *half_copy(gr_tensor *t)
{
    gr_context *ctx = t->ctx;
    if (t->slab && t->slab->segments[t->segment].value == t)
        return slab_half(t);
    if (t->half && t->half_step == ctx->steps)
        return t->half;
    gr_call call = {.n_in = 1, .n_out = 1, .in = {t}, .out = {gr__tensor_step(ctx, ctx->compute, t->ndim, t->shape)}};
    if (!call.out[0] || !gr__run_kernel(ctx, ctx->device->cast, &call, GR_FORWARD))
        return NULL;
    t->half = call.out[0];
    t->half_step = ctx->steps;
    t->half->master = t;
    t->half->wants_grad = t->wants_grad;
    return t->half;
}

void gr__half_invalidate(gr_tensor *t)
{
    if (t->slab)
        t->slab->halves_stale = true;
    else
        t->half = NULL;
}

/* What stands in the slab of halves where t, any piece of the slab of values, has its values. NULL: recorded. */
static gr_tensor *copy_of(const gr_tensor *t)
{
    const gr_slab *slab = t->slab;
    const size_t bytes = (size_t)((const char *)t->data - (const char *)slab->values->data);
    return gr__slab_piece(slab->halves, (int64_t)(bytes / gr_type_size(t->type)), t->ndim, t->shape);
}

void gr__half_change(gr_build *b, int i)
{
    gr_tensor *t = b->call.in[i];
    const bool copies = b->ctx->device->kernels[b->op->id].copies >> i & 1;
    if (copies && t->slab && t->slab->halves && !t->slab->halves_stale)
        b->call.copy = copy_of(t);
    else
        gr__half_invalidate(t);
}

void gr__half_release(gr_tensor *t)
{
    if (!t->half || t->half_step != t->ctx->steps)
        return;
    gr__release(t->half);
    t->half = NULL;
}

bool gr__cast_inputs(gr_build *b)
{
    const unsigned rounds = b->ctx->device->kernels[b->op->id].rounds;
    for (int i = 0; i < b->op->n_in; i++) {
        gr_tensor *t = b->call.in[i];
        const bool as_half = b->op->in[i].type == GR_SLOT_HALF && !(rounds >> i & 1);
        if (t && as_half && t->type != b->ctx->compute && !(b->call.in[i] = half_copy(t)))
            return false;
    }
    return true;
}

bool gr__half_add(gr_tensor *t, gr_tensor *s)
{
    gr_context *ctx = t->ctx;
    const gr_type real = ctx->device->real;
    gr_tensor *a = gr__tensor_step(ctx, real, t->ndim, t->shape), *b = gr__tensor_step(ctx, real, t->ndim, t->shape);
    const bool good = a && b && gr__cast(ctx, t, a) && gr__cast(ctx, s, b) && gr__add_to(a, b) && gr__cast(ctx, a, t);
    gr__release(a);
    gr__release(b);
    return good;
}
