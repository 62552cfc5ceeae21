/*
 * tape.c - reverse-mode differentiation; see tape.h.
 */
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/precision.h"
#include "core/slab.h"
#include "core/trace.h"

bool gr__add_leaf(gr_context *ctx, gr_tensor *t)
{
    if (!gr__grow(ctx, &ctx->leaves, &ctx->cap_leaves, ctx->n_leaves + 1, sizeof *ctx->leaves))
        return false;
    ctx->leaves[ctx->n_leaves++] = t;
    t->wants_grad = true;
    return true;
}

gr_tensor *gr_grad(const gr_tensor *t)
{
    return gr__alive(t, "gr_grad") && t->grad_written ? t->grad : NULL;
}

void gr_clear_gradients(gr_context *ctx)
{
    for (int i = 0; ctx && i < ctx->n_leaves; i++)
        ctx->leaves[i]->grad_written = false;
}

gr_tensor *gr__leaf_gradient(gr_tensor *leaf)
{
    if (leaf->grad)
        return leaf->grad;
    if (leaf->slab) {
        leaf->slab->segments[leaf->segment].no_gradient = false;
        if (!gr__slab_make_gradients(leaf->slab))
            return NULL;
    } else {
        leaf->grad = gr__tensor_persistent(leaf->ctx, leaf->type, leaf->ndim, leaf->shape);
    }
    return leaf->grad;
}

bool gr__add_to(gr_tensor *t, gr_tensor *s)
{
    gr_context *ctx = t->ctx;
    if (gr__is_half(t))
        return ctx->mixed->add_halves(t, s);
    const double begin = gr_span_begin(ctx, "add_gradient");
    const int stretch = gr__trace_stretch_begin(ctx);
    const bool added = ctx->planning || ctx->device->add_real(ctx->device, t->data, s->data, t->count);
    gr__trace_stretch_end(ctx, stretch);
    gr__trace_sum(ctx, t, begin);
    return added || gr__device_failed(ctx, "two gradients were added");
}

static gr_node *new_node(gr_context *ctx)
{
    int before = ctx->cap_nodes;
    if (!gr__grow(ctx, &ctx->nodes, &ctx->cap_nodes, ctx->n_nodes + 1, sizeof *ctx->nodes))
        return NULL;
    for (int i = before; i < ctx->cap_nodes; i++)
        ctx->nodes[i] = NULL;
    gr_node **slot = &ctx->nodes[ctx->n_nodes];
    if (!*slot)
        *slot = gr__calloc(ctx, 1, sizeof **slot);
    return *slot;
}

bool gr__tape_append(gr_build *b, bool alias)
{
    gr_context *ctx = b->ctx;
    gr_node *node = new_node(ctx);
    if (!node)
        return false;
    *node = (gr_node){.op = b->op, .call = b->call, .module = ctx->module, .alias = alias};
    memcpy(node->args, b->args, sizeof node->args);
    node->call.options = node->args;
    b->call.out[0]->wants_grad = true;
    b->call.out[0]->node = ctx->n_nodes++;
    return true;
}

/*
 * Where the gradient of one input goes, made when it is not there yet; sets the accumulate bit where it holds a value.
 */
static gr_tensor *gradient_buffer(gr_tensor *t, gr_call *call, int slot)
{
    bool leaf = t->node < 0;
    bool written = leaf ? t->grad_written : t->grad != NULL;
    if (leaf)
        gr__leaf_gradient(t);
    else if (!t->grad)
        t->grad = gr__tensor_step(t->ctx, t->type, t->ndim, t->shape);
    if (written)
        call->accumulate |= 1u << slot;
    return t->grad;
}

/* Index of an earlier slot that is the same tensor, -1 if there is none. */
static int duplicate_of(const gr_call *call, int slot)
{
    for (int i = 0; i < slot; i++)
        if (call->d_in[i] && gr__origin(call->in[i]) == gr__origin(call->in[slot]))
            return i;
    return -1;
}

/*
 * Sets d_in and accumulate. A tensor that stands in two slots of one call gets a buffer of its own for the second,
 * which add_duplicates adds afterwards: no kernel has to know that two of its gradients are one.
 */
static bool make_buffers(gr_node *node, gr_call *call)
{
    for (int i = 0; i < node->op->n_in; i++) {
        gr_tensor *t = gr__origin(call->in[i]);
        if (!(node->op->in[i].flags & GR_SLOT_GRAD) || !t || !t->wants_grad || node->claimed >> i & 1)
            continue;
        call->d_in[i] = duplicate_of(call, i) >= 0 ? gr__tensor_step(t->ctx, t->type, t->ndim, t->shape)
                                                   : gradient_buffer(t, call, i);
        if (!call->d_in[i])
            return false;
    }
    return true;
}

static bool add_duplicates(gr_call *call)
{
    for (int i = 0; i < call->n_in; i++) {
        if (!call->d_in[i])
            continue;
        int first = duplicate_of(call, i);
        gr_tensor *t = gr__origin(call->in[i]);
        if (first < 0) {
            if (t->node < 0)
                t->grad_written = true;
            continue;
        }
        if (!gr__add_to(call->d_in[first], call->d_in[i]))
            return false;
        gr__release(call->d_in[i]);
    }
    return true;
}

/*
 * An alias hands its gradient through: the same storage under the input's shape. Not possible where the input has a
 * gradient already, is a leaf, or the storage is not the step's own; the kernel copies or adds then.
 */
static bool pass_through(gr_node *node, gr_tensor *d_out)
{
    gr_tensor *t = node->call.in[0];
    if (!node->alias || t->node < 0 || t->grad || d_out->lifetime != GR__STEP)
        return false;
    t->grad = gr__tensor_alias(d_out, t->ndim, t->shape);
    if (t->grad)
        gr__transfer_storage(d_out, t->grad);
    return true;
}

static bool differentiate(gr_context *ctx, gr_node *node, const gr_backward_hook *hook)
{
    gr_call call = node->call;
    call.d_out[0] = call.out[0]->grad;
    if (pass_through(node, call.d_out[0]))
        return gr_ok(ctx);
    if (!make_buffers(node, &call))
        return false;
    const bool done = node->claimed    ? hook->run(hook->user, node, &call)
                      : node->backward ? node->backward(node, &call)
                                       : gr__run_kernel(ctx, node->op, &call, GR_BACKWARD);
    return done && add_duplicates(&call);
}

/* What only this node's backward needed: its results and their gradient. */
static void release_node(gr_node *node, const gr_tensor *loss)
{
    gr_tensor *result = node->call.out[0];
    gr__release(result->grad);
    result->grad = NULL;
    result->wants_grad = false;
    result->node = -1;
    for (int i = 0; i < node->call.n_out; i++)
        if (node->call.out[i] != loss)
            gr__release(node->call.out[i]);
}

void gr__tape_drop(gr_context *ctx)
{
    bool drawn = ctx->n_draws > 0 && !ctx->planning; /* a dry run draws nothing */
    ctx->n_nodes = 0;
    ctx->n_draws = 0;
    if (!drawn)
        return;
    ctx->state.draws++;
    gr__state_write(ctx);
}

/* Makes y, which outlives the backward pass, the owner of its storage where it only shares it. */
static void own_storage(gr_tensor *y)
{
    const gr_context *ctx = y->ctx;
    gr_tensor *t = y;
    while (t->lifetime == GR__ALIAS && t->node >= 0 && ctx->nodes[t->node]->alias)
        t = ctx->nodes[t->node]->call.in[0];
    if (t != y)
        gr__transfer_storage(t, y);
}

/* Tells of the parameters to whose gradients a node adds. */
static void tell_uses(const gr_node *node, const gr_backward_hook *hook, int change)
{
    for (int slot = 0; slot < node->op->n_in; slot++) {
        const gr_tensor *t = gr__origin(node->call.in[slot]);
        if (node->op->in[slot].flags & GR_SLOT_GRAD && t && t->wants_grad && t->node < 0 && t->slab)
            hook->uses(hook->user, t, change);
    }
}

/* Walks the tape from y, whose gradient is dy, back to the leaves. */
static bool walk(gr_tensor *y, gr_tensor *dy, const gr_backward_hook *hook)
{
    gr_context *ctx = y->ctx;
    if (y->node < 0)
        return gr__fail(ctx, GR_USAGE,
                        "gr_backward: nothing to differentiate; the loss does not depend on a variable or "
                        "parameter, was made while recording was off, or was differentiated before");
    const double begin = gr_span_begin(ctx, "backward");
    const bool tells = hook && hook->uses;
    for (int i = 0; tells && i < ctx->n_nodes; i++)
        tell_uses(ctx->nodes[i], hook, 1);
    own_storage(y);
    y->grad = dy;
    for (int i = ctx->n_nodes - 1; i >= 0 && gr_ok(ctx); i--) {
        gr_node *node = ctx->nodes[i];
        const char *before = gr__enter_module(ctx, node->module);
        if (node->call.out[0]->grad)
            differentiate(ctx, node, hook);
        if (tells && gr_ok(ctx))
            tell_uses(node, hook, -1);
        release_node(node, y);
        gr__enter_module(ctx, before);
    }
    gr__tape_drop(ctx);
    gr_span_end(ctx, "backward", begin);
    return gr_ok(ctx);
}

bool gr__backward(gr_tensor *loss, const gr_backward_hook *hook)
{
    gr_context *ctx = gr__alive(loss, "gr_backward") ? loss->ctx : NULL;
    if (!gr_ok(ctx))
        return false;
    if (loss->count != 1)
        return gr__fail(ctx, GR_USAGE,
                        "gr_backward starts from one number (a loss), not from a tensor of %lld elements; "
                        "gr_backward_from starts from any tensor and its gradient",
                        (long long)loss->count);
    return walk(loss, ctx->one, hook);
}

bool gr_backward(gr_tensor *loss)
{
    return gr__backward(loss, NULL);
}

bool gr_backward_from(gr_tensor *y, gr_tensor *dy)
{
    gr_context *ctx = gr__alive(y, "gr_backward_from") && gr__alive(dy, "gr_backward_from") ? y->ctx : NULL;
    if (!gr_ok(ctx))
        return false;
    bool same = dy->ctx == ctx && dy->type == y->type && dy->ndim == y->ndim;
    for (int i = 0; same && i < y->ndim; i++)
        same = dy->shape[i] == y->shape[i];
    if (!same)
        return gr__fail(ctx, GR_USAGE,
                        "gr_backward_from: the gradient must have the context, type and shape of its tensor");
    return walk(y, dy, NULL);
}
