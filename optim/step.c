/* step.c - the optimizer's step over a model's parameters: runs of neighbours in the slab, each treated alike. */
#include "nn/module.h"
#include "optim/optimizer.h"

gr_tensor *gr__dense_step(gr_optimizer *opt, const gr_dense_update *u)
{
    const gr_segment *s = &u->w->slab->segments[u->w->segment];
    gr_tensor *m[GR__MAX_MOMENTS] = {0};
    for (int i = 0; i < opt->class->moments; i++)
        m[i] = gr__slab_piece(opt->moments[i], s->state_offset, u->w->ndim, u->w->shape);
    return opt->class->dense_step(opt, u, m);
}

static bool is_vector(const gr_parameters *list, int i)
{
    return list->plans[i].role == GR__VECTOR;
}

/* Behind the last segment of the run that begins with segment first; first itself: a fused update left no gradient. */
static int run_end(const gr_optimizer *opt, int first)
{
    const gr_parameters *list = opt->net->parameters;
    int end = first;
    while (end < list->n && list->slab->segments[end].value->grad_written &&
           (end == first || !opt->class->by_segment) && gr__lr_scale(opt, end) == gr__lr_scale(opt, first) &&
           gr__decay_scale(opt, end) == gr__decay_scale(opt, first) &&
           (!opt->decay_weights_only || is_vector(list, end) == is_vector(list, first)))
        end++;
    return end;
}

/* One step over segments first..end-1, which lie side by side in every slab, by their gradients g. */
static bool step_run(gr_optimizer *opt, int first, int end, gr_tensor *g)
{
    const gr_parameters *list = opt->net->parameters;
    const bool vectors = is_vector(list, first);
    const gr_segment *s = &list->slab->segments[first];
    const int64_t count = gr__slab_span(list->slab, first, end);
    gr_run run = {.first = first,
                  .p = gr__slab_piece(list->slab->values, s->offset, 1, &count),
                  .g = g,
                  .vectors = vectors,
                  .decay = opt->decay_weights_only && vectors ? 0 : gr__decay_scale(opt, first)};
    for (int i = 0; i < opt->class->moments; i++)
        run.m[i] = gr__slab_piece(opt->moments[i], s->state_offset, 1, &count);
    return opt->class->step_run(opt, &run);
}

bool gr__step_segment(gr_optimizer *opt, int i, gr_tensor *g)
{
    return step_run(opt, i, i + 1, g);
}

/* The update of segment i that has waited for the end of the backward pass, if there is one. */
static bool step_postponed(gr_optimizer *opt, int i)
{
    const gr_fused *f = &opt->fused[i];
    gr_tensor *w = opt->net->parameters->slab->segments[i].value;
    return !f->x || gr__dense_step(opt, &(gr_dense_update){.x = f->x, .dy = f->dy, .w = w, .y = f->y});
}

/* The step reads its rate from the device: one of its own stands there for as long as it takes. False: recorded. */
static bool set_rate(gr_optimizer *opt, double scale)
{
    if (!opt->lr_scale)
        return true;
    opt->ctx->state.lr = opt->lr * scale;
    return gr__state_write(opt->ctx);
}

bool gr__step_parameters(gr_optimizer *opt)
{
    const int n = opt->net->parameters->n;
    bool good = true;
    for (int i = 0, end; good && i<n; i = end> i ? end : i + 1) {
        end = run_end(opt, i);
        if (gr__lr_scale(opt, i) == 0)
            continue;
        good = set_rate(opt, gr__lr_scale(opt, i)) &&
               (end > i ? step_run(opt, i, end, gr__slab_gradients(opt->net->parameters->slab, i, end))
                        : step_postponed(opt, i));
    }
    return set_rate(opt, 1) && good;
}
