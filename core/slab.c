/* slab.c - parameters and gradients in one piece each; see slab.h. */
#include "core/slab.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"

enum { SEGMENT_ALIGN = 64 }; /* elements: 256 bytes of floats */

static int64_t aligned(int64_t count)
{
    return (count + SEGMENT_ALIGN - 1) / SEGMENT_ALIGN * SEGMENT_ALIGN;
}

static void destroy(void *object)
{
    gr_slab *slab = object;
    free(slab->segments);
    free(slab);
}

/* Address of element i of a slab's tensor; NULL while there is no memory behind it. */
static void *at(const gr_tensor *t, int64_t i)
{
    return t->data ? (char *)t->data + (size_t)i * gr_type_size(t->type) : NULL;
}

gr_tensor *gr__slab_piece(gr_tensor *slab, int64_t offset, int ndim, const int64_t *shape)
{
    gr_tensor *piece = slab ? gr__tensor_alias(slab, ndim, shape) : NULL;
    if (!piece)
        return NULL;
    piece->data = at(slab, offset);
    piece->slab = slab->slab;
    return piece;
}

int64_t gr__slab_span(const gr_slab *slab, int first, int last)
{
    const gr_segment *a = &slab->segments[first], *b = &slab->segments[last - 1];
    return b->offset + b->count - a->offset;
}

gr_tensor *gr__slab_gradients(gr_slab *slab, int first, int last)
{
    const int64_t count = gr__slab_span(slab, first, last);
    return gr__slab_piece(slab->gradients, slab->segments[first].grad_offset, 1, &count);
}

/* Sizes and offsets; returns the length of the slab in elements. */
static int64_t lay_out(gr_slab *slab, const int *ndim, const int64_t (*shape)[GR_MAX_DIMS])
{
    int64_t end = 0;
    for (int i = 0; i < slab->n; i++) {
        int64_t count = 1;
        for (int d = 0; d < ndim[i]; d++)
            count *= shape[i][d];
        slab->segments[i] = (gr_segment){.offset = end, .count = count, .grad_offset = -1, .state_offset = end};
        end += aligned(count);
    }
    return end;
}

gr_slab *gr__slab_new(gr_context *ctx, int n, const int *ndim, const int64_t (*shape)[GR_MAX_DIMS])
{
    for (int i = 0; i < n; i++)
        if (!gr__shape_check(ctx, gr_real(ctx), ndim[i], shape[i]))
            return NULL;
    gr_slab *slab = gr__calloc(ctx, 1, sizeof *slab);
    if (!slab)
        return NULL;
    *slab = (gr_slab){.ctx = ctx, .n = n, .segments = gr__calloc(ctx, (size_t)n, sizeof *slab->segments)};
    if (!gr__own(ctx, slab, destroy) || !slab->segments)
        return NULL;
    int64_t total = slab->state_count = lay_out(slab, ndim, shape);
    slab->values = gr__tensor_persistent(ctx, gr_real(ctx), 1, &total);
    for (int i = 0; i < n && slab->values; i++) {
        gr_segment *s = &slab->segments[i];
        s->value = gr__tensor_over(ctx, gr_real(ctx), ndim[i], shape[i], at(slab->values, s->offset));
        if (!s->value || !gr__add_leaf(ctx, s->value))
            return NULL;
        s->value->slab = slab;
        s->value->segment = i;
    }
    if (slab->values)
        slab->values->slab = slab; /* a step on the slab is a change of its parameters */
    return slab->values ? slab : NULL;
}

void gr__slab_freeze(gr_slab *slab, int i)
{
    gr_segment *frozen = &slab->segments[i];
    frozen->frozen = frozen->no_gradient = true;
    frozen->value->wants_grad = false;
    if (frozen->value->half)
        frozen->value->half->wants_grad = false;
    slab->state_count = 0;
    for (int j = 0; j < slab->n; j++) {
        gr_segment *s = &slab->segments[j];
        s->state_offset = s->frozen ? -1 : slab->state_count;
        slab->state_count += s->frozen ? 0 : aligned(s->count);
    }
}

bool gr__is_frozen(const gr_tensor *t)
{
    return t->slab && t->slab->segments[t->segment].value == t && t->slab->segments[t->segment].frozen;
}

int gr__slab_run_end(const gr_slab *slab, int first)
{
    int end = first;
    while (end < slab->n && !slab->segments[end].frozen)
        end++;
    return end;
}

/* Gives every segment that needs a gradient its place; returns the length of the gradient slab in elements. */
static int64_t lay_out_gradients(gr_slab *slab)
{
    int64_t end = 0;
    for (int i = 0; i < slab->n; i++) {
        gr_segment *s = &slab->segments[i];
        s->grad_offset = s->no_gradient ? -1 : end;
        end += s->no_gradient ? 0 : aligned(s->count);
    }
    return end;
}

/* Copies the gradients that hold values from the old slab to their new places, which are zero. */
static bool copy_gradients(gr_slab *slab, const gr_tensor *old, const int64_t *old_offset)
{
    gr_device *d = slab->ctx->device;
    bool copied = true;
    for (int i = 0; i < slab->n && old && old->data; i++) {
        gr_segment *s = &slab->segments[i];
        if (old_offset[i] >= 0 && s->value->grad_written)
            copied &= d->add_real(d, at(slab->gradients, s->grad_offset), at(old, old_offset[i]), s->count);
    }
    return copied || gr__device_failed(slab->ctx, "gradients were moved");
}

/* Points each parameter at its gradient. */
static bool bind_gradients(gr_slab *slab)
{
    for (int i = 0; i < slab->n; i++) {
        gr_segment *s = &slab->segments[i];
        gr_tensor *v = s->value;
        if (s->grad_offset < 0)
            continue;
        if (!v->grad)
            v->grad = gr__tensor_over(slab->ctx, v->type, v->ndim, v->shape, NULL);
        if (!v->grad)
            return false;
        v->grad->data = at(slab->gradients, s->grad_offset);
    }
    return true;
}

bool gr__slab_make_gradients(gr_slab *slab)
{
    bool missing = !slab->gradients;
    for (int i = 0; i < slab->n; i++)
        missing |= slab->segments[i].grad_offset < 0 && !slab->segments[i].no_gradient;
    if (!missing)
        return true;
    int64_t *old_offset = gr__calloc(slab->ctx, (size_t)slab->n, sizeof *old_offset);
    if (!old_offset)
        return false;
    for (int i = 0; i < slab->n; i++)
        old_offset[i] = slab->segments[i].grad_offset;
    gr_tensor *old = slab->gradients;
    int64_t total = lay_out_gradients(slab);
    gr_tensor *made = gr__tensor_persistent(slab->ctx, slab->values->type, 1, &total);
    if (made)
        slab->gradients = made;
    for (int i = 0; i < slab->n && !made; i++)
        slab->segments[i].grad_offset = old_offset[i];
    bool done = made && copy_gradients(slab, old, old_offset) && bind_gradients(slab);
    if (done && old) { /* its header stays until gr_close, its memory need not */
        gr__persistent_free(slab->ctx, old->data, gr__bytes(old));
        old->data = NULL;
        old->block.size = 0;
    }
    free(old_offset);
    return done;
}

void gr__slab_point(gr_slab *slab)
{
    for (int i = 0; i < slab->n; i++) {
        const gr_segment *s = &slab->segments[i];
        s->value->data = at(slab->values, s->offset);
        if (s->grad_offset >= 0 && slab->gradients)
            s->value->grad->data = at(slab->gradients, s->grad_offset);
    }
}

bool gr__slab_has_gradients(const gr_slab *slab)
{
    for (int i = 0; i < slab->n; i++)
        if (slab->segments[i].value->grad_written)
            return true;
    return false;
}

void gr__slab_clear_gradients(gr_slab *slab)
{
    for (int i = 0; i < slab->n; i++)
        slab->segments[i].value->grad_written = false;
}

/* The elements of t, by way of the host. */
static bool move_elements(const gr_tensor *t, gr_tensor *to)
{
    if (!t->data)
        return gr_ok(t->ctx); /* a dry run holds no values */
    void *host = gr__calloc(t->ctx, (size_t)t->count, gr_type_size(t->type));
    const bool moved = host && gr_download(t, host) && gr_upload(to, host);
    free(host);
    return moved;
}

bool gr__slab_adopt(gr_slab *slab, int i, gr_tensor *t)
{
    gr_segment *s = &slab->segments[i];
    if (!move_elements(t, s->value))
        return false;
    gr__persistent_free(slab->ctx, t->data, gr__bytes(t));
    t->data = s->value->data;
    t->block.size = 0;
    t->grad = NULL; /* what it had is no part of the slab of gradients */
    t->grad_written = false;
    t->slab = slab;
    t->segment = i;
    s->value = t;
    return true;
}
