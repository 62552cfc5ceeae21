/* update.c - one update of a model from its gradients, in as many passes as the optimizer makes. */
#include <string.h>

#include "amp/scaler.h"
#include "nn/module.h"
#include "optim/ema.h"
#include "optim/lookahead.h"
#include "optim/optimizer.h"

int gr_optimizer_passes(const gr_optimizer *opt)
{
    return !opt ? 0 : opt->rho > 0 ? 2 : opt->inner;
}

bool gr__optimizer_prepare(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    if (gr_parameter_count(opt->net) == 0)
        return gr__fail(ctx, GR_USAGE,
                        "an update of a model that has no parameters yet; run gr_forward and gr_backward first");
    if (!gr__ema_check(opt, "an update"))
        return false;
    const gr_slab *slab = opt->net->parameters->slab;
    if (slab->state_count == 0)
        return gr__fail(ctx, GR_USAGE,
                        "an update of a model whose parameters are all frozen; leave some to be trained");
    for (int i = 0; i < opt->class->moments; i++)
        if (!opt->moments[i])
            opt->moments[i] = gr__tensor_persistent(ctx, slab->values->type, 1, &slab->state_count);
    if (opt->rho > 0 && !opt->saved)
        opt->saved = gr__tensor_persistent(ctx, slab->values->type, 1, &slab->state_count);
    if (!opt->fused)
        opt->fused = gr__calloc(ctx, (size_t)slab->n, sizeof *opt->fused);
    return gr__lookahead_prepare(opt) && gr__ema_prepare(opt) && gr_ok(ctx);
}

bool gr__update_begin(gr_optimizer *opt)
{
    gr_context *ctx = opt->ctx;
    gr_parameters *list = opt->net->parameters;
    memset(opt->fused, 0, (size_t)list->slab->n * sizeof *opt->fused);
    if (!gr__scaler_take_turn(ctx, &opt->skips) || !gr__lookahead_begin(opt))
        return false;
    if (!ctx->planning && opt->pass == 0) { /* a dry run is no update */
        opt->updates++;
        list->statistics->updates++;
    }
    ctx->state.update = opt->updates;
    ctx->state.lr = opt->lr;
    return gr__state_write(ctx);
}

gr_tensor *gr__gradient_norm(gr_optimizer *opt)
{
    const gr_parameters *list = opt->net->parameters;
    for (int i = 0; i < list->n; i++)
        if (!list->slab->segments[i].value->grad_written && !list->slab->segments[i].frozen) {
            gr__fail(opt->ctx, GR_USAGE,
                     "the norm of the gradients wants one of every parameter, but the loss does not depend on %s",
                     list->plans[i].name);
            return NULL;
        }
    return gr_global_norm(list->slab->gradients); /* gaps between segments are zeros */
}

/*
 * One by one: a norm that is no number would make none of the zeros between the segments, and they are never written
 * again.
 */
static bool clip(gr_slab *slab, gr_tensor *norm, double limit)
{
    bool good = true;
    for (int i = 0; good && i < slab->n; i++)
        good = slab->segments[i].frozen || gr_clip_norm(gr__slab_gradients(slab, i, i + 1), norm, limit);
    return good;
}

/* What SAM does to segments first..end-1: climbs along their gradients, or comes back (norm NULL). */
static bool sam_run(gr_optimizer *opt, gr_tensor *norm, int first, int end)
{
    gr_slab *slab = opt->net->parameters->slab;
    const int64_t count = gr__slab_span(slab, first, end);
    gr_tensor *p = gr__slab_piece(slab->values, slab->segments[first].offset, 1, &count);
    gr_tensor *saved = gr__slab_piece(opt->saved, slab->segments[first].state_offset, 1, &count);
    return norm ? gr_sam_climb(p, gr__slab_gradients(slab, first, end), norm, saved, opt->rho)
                : gr_sam_return(p, saved);
}

static bool sam(gr_optimizer *opt, gr_tensor *norm)
{
    const gr_slab *slab = opt->net->parameters->slab;
    bool good = true;
    for (int i = 0, end; good && i < slab->n; i = end + 1) {
        end = gr__slab_run_end(slab, i);
        good = end == i || sam_run(opt, norm, i, end);
    }
    return good;
}

/* With SAM the first pass climbs to where the loss is worst, a short way off, and the second updates from there. */
static bool step_pass(gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    const bool climbs = opt->rho > 0 && opt->pass == 0, returns = opt->rho > 0 && opt->pass > 0;
    if (returns && !sam(opt, NULL)) /* before an overflow of this pass can skip it */
        return false;
    if (!gr__scaler_unscale(slab))
        return false;
    gr_tensor *norm = climbs || opt->clip > 0 ? gr__gradient_norm(opt) : NULL;
    if (climbs)
        return norm && sam(opt, norm);
    return (opt->clip == 0 || clip(slab, norm, opt->clip)) && gr__step_parameters(opt);
}

/* The next statistics become the model's, but for those that are frozen: nobody has written their next ones. */
static bool commit(gr_parameters *statistics)
{
    const gr_slab *slab = statistics->slab;
    bool good = true;
    for (int i = 0, end; good && i < slab->n; i = end + 1) {
        end = gr__slab_run_end(slab, i);
        const int64_t count = end > i ? gr__slab_span(slab, i, end) : 0;
        good = end == i ||
               gr_batch_norm_commit(gr__slab_piece(slab->values, slab->segments[i].offset, 1, &count),
                                    gr__slab_piece(statistics->next->values, slab->segments[i].offset, 1, &count));
    }
    return good;
}

/* The statistics of the first pass become the model's, look-ahead pulls, and averages move. */
static void end_update(gr_optimizer *opt)
{
    gr_parameters *statistics = opt->net->parameters->statistics;
    if (statistics->pending)
        commit(statistics);
    statistics->pending = false;
    gr__lookahead_end(opt);
    gr__ema_update(opt);
    gr__scaler_update(opt->ctx);
    opt->ctx->state.inv_weight = 0;
}

bool gr__update_finish(gr_optimizer *opt)
{
    const double begin = gr_span_begin(opt->ctx, "optimizer");
    opt->pass = step_pass(opt) ? (opt->pass + 1) % gr_optimizer_passes(opt) : 0;
    opt->net->parameters->statistics->frozen = opt->pass > 0;
    if (opt->pass == 0)
        end_update(opt);
    gr__slab_clear_gradients(opt->net->parameters->slab);
    const bool written = gr__state_write(opt->ctx);
    gr_span_end(opt->ctx, "optimizer", begin);
    return written;
}

bool gr_optimizer_step(gr_optimizer *opt)
{
    return opt && gr_ok(opt->ctx) && gr__optimizer_prepare(opt) && gr__update_begin(opt) && gr__update_finish(opt);
}
