/* optimizer.c - what all optimizers share: moments, the count of updates, one pass over the slabs. */
#include "optim/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "amp/scaler.h"
#include "core/precision.h"
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

static bool check_net(gr_context *ctx, const gr_module *net)
{
    if (!net)
        return gr__fail(ctx, GR_USAGE, "an optimizer wants a model; this one is NULL");
    return net->ctx == ctx || gr__fail(ctx, GR_USAGE, "an optimizer belongs to its model's context; this is another");
}

gr_optimizer *gr__optimizer_new(gr_context *ctx, gr_module *net, const gr_optimizer_class *class, double lr)
{
    if (!gr_ok(ctx) || !check_net(ctx, net) || !check_lr(ctx, lr))
        return NULL;
    gr_optimizer *opt = gr__calloc(ctx, 1, sizeof *opt);
    if (!opt)
        return NULL;
    *opt = (gr_optimizer){.ctx = ctx, .net = net, .class = class, .lr = lr, .inner = 1};
    return gr__own(ctx, opt, destroy) ? opt : NULL;
}

bool gr_set_lr(gr_optimizer *opt, double lr)
{
    if (!opt || !gr_ok(opt->ctx) || !check_lr(opt->ctx, lr))
        return false;
    opt->lr = lr;
    return true;
}

bool gr_set_decay_weights_only(gr_optimizer *opt, bool on)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    opt->decay_weights_only = on;
    return true;
}

bool gr_set_clip(gr_optimizer *opt, double norm)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(norm >= 0 && isfinite(norm)))
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_clip: a norm of %g; it must be a positive number, or 0 for none",
                        norm);
    opt->clip = norm;
    return true;
}

bool gr_set_sam(gr_optimizer *opt, double rho)
{
    if (!opt || !gr_ok(opt->ctx))
        return false;
    if (!(rho >= 0 && isfinite(rho)))
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_sam: rho %g; it must be a positive number, or 0 for none", rho);
    if (rho > 0 && opt->inner > 1)
        return gr__fail(opt->ctx, GR_USAGE,
                        "gr_set_sam: gr_prox makes several passes itself; put SAM around another optimizer");
    if (opt->pass > 0)
        return gr__fail(opt->ctx, GR_USAGE, "gr_set_sam: in the middle of an update; finish its second pass first");
    opt->rho = rho;
    return true;
}

int gr_optimizer_passes(const gr_optimizer *opt)
{
    return !opt ? 0 : opt->rho > 0 ? 2 : opt->inner;
}

/* Not where somebody else reads the gradients. */
bool gr__may_fuse(const gr_optimizer *opt)
{
    return opt->class->dense_step && opt->clip == 0 && opt->rho == 0;
}

/*
 * The scale belongs to all that is trained in a context. How many updates were skipped does not: it is taken off the
 * number of the update, from which Adam corrects its moments.
 */
bool gr__take_turn(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    float scaler[GR_SCALER_VALUES];
    if (!ctx->scaler || ctx->skips == &opt->skips || ctx->planning)
        return gr_ok(ctx);
    if (ctx->skips) {
        if (!gr_download(ctx->scaler, scaler))
            return false;
        *ctx->skips = scaler[GR_SCALER_SKIPPED];
        ctx->other_skips += (double)*ctx->skips - (double)opt->skips;
        scaler[GR_SCALER_SKIPPED] = opt->skips;
        if (!gr_upload(ctx->scaler, scaler))
            return false;
    }
    ctx->skips = &opt->skips;
    return true;
}

/* The numbers that the device is shown in this pass. */
static void number(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    if (!ctx->planning && opt->pass == 0) { /* a dry run is no update */
        opt->updates++;
        opt->net->parameters->statistics->updates++;
    }
    ctx->state.update = opt->updates;
    ctx->state.lr = opt->lr;
}

bool gr__update_begin(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    if (!gr_ok(ctx) || !gr__take_turn(opt))
        return false;
    if (gr_parameter_count(opt->net) == 0)
        return gr__fail(ctx, GR_USAGE,
                        "an update of a model that has no parameters yet; run gr_forward and gr_backward first");
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
    ctx->mixed->invalidate_half(slab->values); /* a graph that is replayed does not pass where operations say so */
    number(opt);
    return gr__state_write(ctx);
}

gr_tensor *gr__dense_step(gr_optimizer *opt, const gr_dense_update *u)
{
    const gr_segment *s = &u->w->slab->segments[u->w->segment];
    gr_tensor *m[GR__MAX_MOMENTS] = {0};
    for (int i = 0; i < opt->class->moments; i++)
        m[i] = gr__slab_piece(opt->moments[i], s->offset, u->w->ndim, u->w->shape);
    return opt->class->dense_step(opt, u, m);
}

/* Whether segment i waits for the optimizer: a fused update leaves no gradient. */
static bool pending(const gr_optimizer *opt, int i)
{
    return opt->net->parameters->slab->segments[i].value->grad_written;
}

static bool is_vector(const gr_optimizer *opt, int i)
{
    return opt->net->parameters->plans[i].role == GR__VECTOR;
}

/* One step over segments first..last-1, which lie side by side in both slabs. */
static bool step_run(gr_optimizer *opt, int first, int last)
{
    gr_slab *slab = opt->net->parameters->slab;
    const bool vectors = is_vector(opt, first);
    const int64_t offset = slab->segments[first].offset, count = gr__slab_span(slab, first, last);
    gr_run run = {.p = gr__slab_piece(slab->values, offset, 1, &count),
                  .g = gr__slab_gradients(slab, first, last),
                  .vectors = vectors,
                  .decays = !(opt->decay_weights_only && vectors)};
    for (int i = 0; i < opt->class->moments; i++)
        run.m[i] = gr__slab_piece(opt->moments[i], offset, 1, &count);
    return opt->class->step_run(opt, &run);
}

/* Behind the last segment of the run that begins with segment first. */
static int run_end(const gr_optimizer *opt, int first)
{
    int n = opt->net->parameters->slab->n, last = first + 1;
    while (last < n && pending(opt, last) && !opt->class->by_segment &&
           (!opt->decay_weights_only || is_vector(opt, last) == is_vector(opt, first)))
        last++;
    return last;
}

static bool step_all(gr_optimizer *opt)
{
    const int n = opt->net->parameters->slab->n;
    bool good = true;
    for (int i = 0; good && i < n;) {
        if (!pending(opt, i)) {
            i++;
            continue;
        }
        const int end = run_end(opt, i);
        good = step_run(opt, i, end);
        i = end;
    }
    return good;
}

/* The updates that have waited for the end of the backward pass. */
static bool step_postponed(gr_optimizer *opt)
{
    const gr_slab *slab = opt->net->parameters->slab;
    bool good = true;
    for (int i = 0; good && i < slab->n; i++) {
        const gr_fused *f = &opt->fused[i];
        if (f->x)
            good = gr__dense_step(opt,
                                  &(gr_dense_update){.x = f->x, .dy = f->dy, .w = slab->segments[i].value, .y = f->y});
    }
    return good;
}

gr_tensor *gr__gradient_norm(gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    for (int i = 0; i < slab->n; i++)
        if (!slab->segments[i].value->grad_written) {
            gr__fail(opt->ctx, GR_USAGE,
                     "the norm of the gradients wants one of every parameter, but the loss does not depend on %s",
                     gr_parameter_name(opt->net, i));
            return NULL;
        }
    return gr_global_norm(slab->gradients); /* gaps between segments are zeros */
}

/* To where the loss is worst, a short way off. */
static bool climb(gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    if (!opt->saved)
        opt->saved = gr__tensor_persistent(opt->ctx, slab->values->type, 1, &slab->values->count);
    return gr_sam_climb(slab->values, slab->gradients, gr__gradient_norm(opt), opt->saved, opt->rho);
}

/* An overflow, also in what a gradient is yet to be made of, has the update skipped. */
static bool unscale(gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    bool good = true;
    for (int i = 0; good && i < slab->n; i++)
        good = !opt->fused[i].x || gr__scaler_inspect(opt->fused[i].x);
    return good && gr__scaler_unscale(slab);
}

/*
 * One by one: a norm that is no number would make none of the zeros between the segments, and they are never written
 * again.
 */
static bool clip(gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    gr_tensor *norm = gr__gradient_norm(opt);
    bool good = norm;
    for (int i = 0; good && i < slab->n; i++)
        good = gr_clip_norm(gr__slab_gradients(slab, i, i + 1), norm, opt->clip);
    return good;
}

static bool step_pass(gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    if (opt->rho > 0 && opt->pass > 0 &&
        !gr_sam_return(slab->values, opt->saved)) /* before an overflow of this pass can skip it */
        return false;
    if (!unscale(opt))
        return false;
    if (opt->rho > 0 && opt->pass == 0)
        return climb(opt);
    return (opt->clip == 0 || clip(opt)) && step_all(opt) && step_postponed(opt);
}

/* The statistics of the first pass become the model's. */
static void end_update(gr_optimizer *opt)
{
    gr_parameters *statistics = opt->net->parameters->statistics;
    if (statistics->pending)
        gr_batch_norm_commit(statistics->slab->values, statistics->next->values);
    statistics->pending = false;
    gr__scaler_update(opt->ctx);
    opt->ctx->state.inv_weight = 0;
}

bool gr__update_finish(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    opt->pass = step_pass(opt) ? (opt->pass + 1) % gr_optimizer_passes(opt) : 0;
    opt->net->parameters->statistics->frozen = opt->pass > 0;
    if (opt->pass == 0)
        end_update(opt);
    gr__slab_clear_gradients(opt->net->parameters->slab);
    return gr__state_write(ctx);
}

bool gr_optimizer_step(gr_optimizer *opt)
{
    return opt && gr__update_begin(opt) && gr__update_finish(opt);
}
