/* optimizer.c - what all optimizers share: moments, the count of updates, one pass over the slabs. */
#include "optim/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/module.h"

static void destroy(void *object)
{
    gr_optimizer *opt = object;
    free(opt->fused);
    free(opt);
}

static bool check_lr(gr_context *ctx, double lr)
{
    return (isfinite(lr) && lr > 0) ||
           gr__fail(ctx, GR_USAGE, "a learning rate of %g; it must be a positive number", lr);
}

gr_optimizer *gr__optimizer_new(gr_context *ctx, gr_module *net, const gr_optimizer_class *class, double lr)
{
    if (!gr_ok(ctx) || !net || !check_lr(ctx, lr))
        return NULL;
    gr_optimizer *opt = gr__calloc(ctx, 1, sizeof *opt);
    if (!opt)
        return NULL;
    *opt = (gr_optimizer){.ctx = ctx, .net = net, .class = class, .lr = lr};
    return gr__own(ctx, opt, destroy) ? opt : NULL;
}

bool gr_set_lr(gr_optimizer *opt, double lr)
{
    if (!opt || !gr_ok(opt->ctx) || !check_lr(opt->ctx, lr))
        return false;
    opt->lr = lr;
    return true;
}

gr_tensor *gr__slab_piece(gr_tensor *slab, int64_t offset, int ndim, const int64_t *shape)
{
    gr_tensor *piece = slab ? gr__tensor_alias(slab, ndim, shape) : NULL;
    if (piece && piece->data)
        piece->data = (char *)piece->data + (size_t)offset * gr_type_size(slab->type);
    return piece;
}

bool gr__update_begin(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    if (!gr_ok(ctx))
        return false;
    if (gr_parameter_count(opt->net) == 0)
        return gr__fail(ctx, GR_USAGE, "an update of a model that has no parameters yet; run gr_forward and gr_backward first");
    gr_slab *slab = opt->net->parameters->slab;
    for (int i = 0; i < opt->class->moments; i++) {
        if (!opt->moments[i])
            opt->moments[i] = gr__tensor_persistent(ctx, slab->values->type, 1, &slab->values->count);
        if (!opt->moments[i])
            return false;
    }
    if (!opt->fused)
        opt->fused = gr__calloc(ctx, (size_t)slab->n, sizeof *opt->fused);
    if (!opt->fused)
        return false;
    memset(opt->fused, 0, (size_t)slab->n * sizeof *opt->fused);
    ctx->state.lr = opt->lr;
    if (!ctx->planning) { /* a dry run is no update */
        ctx->state.update++;
        ctx->state.applied++;
    }
    return gr__state_write(ctx);
}

/* Whether segment i waits for the optimizer. */
static bool pending(const gr_optimizer *opt, int i)
{
    const gr_segment *s = &opt->net->parameters->slab->segments[i];
    return !opt->fused[i] && s->value->grad_written;
}

/* One step over segments first..last-1, which lie side by side in both slabs. */
static bool step_run(gr_optimizer *opt, int first, int last)
{
    gr_slab *slab = opt->net->parameters->slab;
    const gr_segment *a = &slab->segments[first], *b = &slab->segments[last - 1];
    int64_t count = b->offset + b->count - a->offset;
    gr_tensor *m[GR__MAX_MOMENTS] = {0};
    for (int i = 0; i < opt->class->moments; i++)
        m[i] = gr__slab_piece(opt->moments[i], a->offset, 1, &count);
    gr_tensor *p = gr__slab_piece(slab->values, a->offset, 1, &count);
    gr_tensor *g = gr__slab_piece(slab->gradients, a->grad_offset, 1, &count);
    return opt->class->step(opt, p, g, m);
}

bool gr__update_finish(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    int n = opt->net->parameters->slab->n;
    for (int first = 0; first < n && gr_ok(ctx);) {
        int last = first;
        while (last < n && pending(opt, last))
            last++;
        if (last > first)
            step_run(opt, first, last);
        first = last + 1;
    }
    gr_parameters *statistics = opt->net->parameters->statistics;
    if (statistics->moved)
        gr_batch_norm_commit(statistics->slab->values, statistics->next->values);
    statistics->moved = false;
    gr_clear_gradients(ctx);
    ctx->state.inv_weight = 0;
    return gr__state_write(ctx);
}

bool gr_optimizer_step(gr_optimizer *opt)
{
    return opt && gr__update_begin(opt) && gr__update_finish(opt);
}
