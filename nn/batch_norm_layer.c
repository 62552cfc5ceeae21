/* batch_norm_layer.c - batch normalisation with its scale, shift and running statistics. */
#include <math.h>

#include "nn/module.h"

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    int64_t channels = f->dim[f->ndim - 1];
    gr_parameter_plan weight = {
        .role = GR__VECTOR, .ndim = 1, .shape = {channels}, .init = GR_ONES, .place = &m->weight};
    gr_parameter_plan bias = {.role = GR__VECTOR, .ndim = 1, .shape = {channels}, .init = GR_ZEROS, .place = &m->bias};
    gr_parameter_plan mean = bias, var = weight;
    mean.place = &m->running.mean;
    mean.next = &m->next.mean;
    var.place = &m->running.var;
    var.next = &m->next.var;
    m->statistics = list->statistics;
    return gr__declare(m, list, "weight", &weight) && gr__declare(m, list, "bias", &bias) &&
           gr__declare(m, list->statistics, "running_mean", &mean) &&
           gr__declare(m, list->statistics, "running_var", &var);
}

/*
 * An update's next statistics begin as the running ones: the first layer of its first pass sees to it for all. They
 * move towards each micro-batch's, and the optimizer's step commits them. False: recorded.
 */
static bool begin_next(gr_module *m)
{
    gr_parameters *statistics = m->statistics;
    const bool begun = statistics->begun_in == statistics->updates;
    if (!m->ctx->planning)
        statistics->begun_in = statistics->updates;
    statistics->pending = true;
    return begun || gr_batch_norm_commit(statistics->next->values, statistics->slab->values);
}

gr_tensor *gr__batch_norm_run(gr_module *m, gr_tensor *x, gr_tensor *residual, bool relu)
{
    const gr_batch_norm_args args = {
        .epsilon = m->batch_norm.epsilon, .relu = relu, .momentum = m->batch_norm.momentum};
    if (!m->ctx->recording || gr__is_frozen(m->running.mean))
        return gr_batch_norm(x, m->weight, m->bias, residual, &m->running, &args, NULL);
    if (m->statistics->frozen)
        return gr_batch_norm(x, m->weight, m->bias, residual, NULL, &args, NULL);
    return begin_next(m) ? gr_batch_norm(x, m->weight, m->bias, residual, NULL, &args, &m->next) : NULL;
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    return gr__batch_norm_run(m, x, NULL, false);
}

const gr_module_class gr__batch_norm_class = {"bn", build, forward};

gr_module *gr_batch_norm_layer(gr_context *ctx, const gr_batch_norm_options *options)
{
    gr_batch_norm_options o = options ? *options : (gr_batch_norm_options){0};
    if (!gr_ok(ctx))
        return NULL;
    if (!isfinite(o.epsilon) || o.epsilon < 0 || !(o.momentum >= 0 && o.momentum <= 1)) {
        gr__fail(ctx, GR_USAGE,
                 "gr_batch_norm_layer: epsilon %g, momentum %g; epsilon is positive, momentum lies in [0, 1]",
                 o.epsilon, o.momentum);
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__batch_norm_class);
    if (m)
        m->batch_norm = o;
    return m;
}
