/* module.c - building a model and running it. */
#include "nn/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_parameters(gr_parameters *list)
{
    if (!list)
        return;
    free_parameters(list->statistics);
    free(list->plans);
    free(list);
}

static void destroy_module(void *object)
{
    gr_module *m = object;
    free_parameters(m->parameters);
    free(m->children);
    free(m->stages);
    free(m);
}

gr_module *gr__module_new(gr_context *ctx, const gr_module_class *class)
{
    gr_module *m = gr__calloc(ctx, 1, sizeof *m);
    if (!m)
        return NULL;
    m->ctx = ctx;
    m->class = class;
    snprintf(m->name, sizeof m->name, "%s1", class->kind); /* containers rename their parts */
    return gr__own(ctx, m, destroy_module) ? m : NULL;
}

gr_module *gr_named(gr_module *m, const char *name)
{
    if (!m)
        return NULL;
    if (!name)
        name = "";
    if (strlen(name) >= sizeof m->given || strchr(name, '.') || !*name) {
        gr__fail(m->ctx, GR_USAGE, "gr_named: \"%s\"; a name has 1 to %zu characters and no dot", name,
                 sizeof m->given - 1);
        return NULL;
    }
    snprintf(m->given, sizeof m->given, "%s", name);
    return m;
}

void gr__name_module(gr_module *m, const gr_module *parent, const char *proposed)
{
    const char *own = *m->given ? m->given : proposed;
    snprintf(m->name, sizeof m->name, *parent->name ? "%s.%s" : "%s%s", parent->name, own);
}

const char *gr__kind(const gr_module *m)
{
    return m->class == &gr__own_class ? m->own.kind : m->class->kind;
}

bool gr__place(gr_module *m, const char *function)
{
    if (m->placed || m->parameters)
        return gr__fail(
            m->ctx, GR_USAGE,
            "%s: a layer (%s) that stands in another model already, or is built as one; make a new one for each place",
            function, gr__kind(m));
    m->placed = true;
    return true;
}

const char *gr__own_name(const gr_module *m)
{
    const char *dot = strrchr(m->name, '.');
    return dot ? dot + 1 : m->name;
}

bool gr__declare(gr_module *m, gr_parameters *list, const char *what, const gr_parameter_plan *plan)
{
    if (plan->init == GR_DIRAC && plan->role != GR__FILTERS)
        return gr__fail(m->ctx, GR_USAGE, "%s.%s: first values by dirac are for the filters of convolutions alone",
                        m->name, what);
    if (!gr__grow(m->ctx, &list->plans, &list->capacity, list->n + 1, sizeof *list->plans))
        return false;
    gr_parameter_plan *p = &list->plans[list->n++];
    *p = *plan;
    snprintf(p->name, sizeof p->name, "%s.%s", m->name, what);
    return true;
}

gr_geometry gr__sample_geometry(const gr_features *f, int64_t r, int64_t s, const gr_window *window,
                                bool stride_is_size)
{
    gr_tensor image = {.ndim = 4, .shape = {1, f->dim[0], f->dim[1], f->dim[2]}};
    return gr__geometry(&image, r, s, window, stride_is_size);
}

gr_slab *gr__lay_out(gr_context *ctx, const gr_parameters *list)
{
    gr_slab *slab = NULL;
    int *ndim = gr__calloc(ctx, (size_t)list->n + 1, sizeof *ndim);
    int64_t(*shape)[GR_MAX_DIMS] = gr__calloc(ctx, (size_t)list->n + 1, sizeof *shape);
    for (int i = 0; ndim && shape && i < list->n; i++) {
        ndim[i] = list->plans[i].ndim;
        for (int d = 0; d < GR_MAX_DIMS; d++)
            shape[i][d] = list->plans[i].shape[d];
    }
    if (ndim && shape)
        slab = gr__slab_new(ctx, list->n, ndim, (const int64_t(*)[GR_MAX_DIMS])shape);
    free(ndim);
    free(shape);
    return slab;
}

/* Memory for the declared parameters, and their first values. */
static bool draw(gr_context *ctx, gr_parameters *list)
{
    if (list->n == 0) /* a model without parameters */
        return gr_ok(ctx);
    list->slab = gr__lay_out(ctx, list);
    for (int i = 0; list->slab && i < list->n; i++) {
        *list->plans[i].place = list->slab->segments[i].value;
        if (!gr__initialise(ctx, &list->plans[i], i, list->slab->segments[i].value))
            return false;
    }
    return gr_ok(ctx);
}

/* The running statistics, if any layer has them, with room for their next values. */
static bool draw_statistics(gr_context *ctx, gr_parameters *list)
{
    if (list->n == 0)
        return gr_ok(ctx);
    list->begun_in = -1;
    list->next = gr__lay_out(ctx, list);
    for (int i = 0; list->next && i < list->n; i++)
        *list->plans[i].next = list->next->segments[i].value;
    return list->next && draw(ctx, list);
}

bool gr__parameters_new(gr_module *m)
{
    m->parameters = gr__calloc(m->ctx, 1, sizeof *m->parameters);
    if (m->parameters)
        m->parameters->statistics = gr__calloc(m->ctx, 1, sizeof *m->parameters);
    return gr_ok(m->ctx);
}

bool gr_module_build(gr_module *net, int ndim, const int64_t *shape)
{
    gr_context *ctx = net ? net->ctx : NULL;
    if (!gr_ok(ctx))
        return false;
    if (net->parameters)
        return gr__fail(ctx, GR_USAGE,
                        "gr_module_build: the model is built already; make another one for another input shape");
    if (net->placed)
        return gr__fail(ctx, GR_USAGE, "gr_module_build: %s is a part of another model; build that one", net->name);
    if (!shape)
        return gr__fail(ctx, GR_USAGE, "gr_module_build: shape is NULL; it has a number for each of %d dimensions",
                        ndim);
    if (ndim != 1 && ndim != 3)
        return gr__fail(ctx, GR_USAGE, "gr_module_build: a sample has 1 (features) or 3 (H, W, C) dimensions, not %d",
                        ndim);
    gr_features features = {.ndim = ndim};
    for (int i = 0; i < ndim; i++)
        features.dim[i] = shape[i];
    if (!gr__parameters_new(net))
        return false;
    gr_parameters *list = net->parameters;
    list->input = features;
    if (net->n_children)
        net->name[0] = '\0'; /* the whole has no name: its parts are conv1, not net1.conv1 */
    return net->class->build(net, &features, list) && draw(ctx, list) && draw_statistics(ctx, list->statistics);
}

bool gr__build_for(gr_module *net, const gr_tensor *x)
{
    return net->parameters || gr_module_build(net, x->ndim - 1, x->shape + 1);
}

gr_tensor *gr__forward(gr_module *net, gr_tensor *x)
{
    const char *name = net->parameters ? "forward" : net->name;
    const double begin = gr_span_begin(net->ctx, name);
    gr_tensor *y = net->class->forward(net, x);
    gr_span_end(net->ctx, name, begin);
    return y;
}

gr_tensor *gr_forward(gr_module *net, gr_tensor *x)
{
    if (!net || !gr__alive(x, "gr_forward") || !gr_ok(net->ctx) || !gr__build_for(net, x))
        return NULL;
    return gr__forward(net, x);
}

int gr_parameter_count(const gr_module *net)
{
    return net && net->parameters && net->parameters->slab ? net->parameters->n : 0;
}

const char *gr_parameter_name(const gr_module *net, int i)
{
    return i >= 0 && i < gr_parameter_count(net) ? net->parameters->plans[i].name : "";
}

gr_tensor *gr_parameter(const gr_module *net, int i)
{
    return i >= 0 && i < gr_parameter_count(net) ? net->parameters->slab->segments[i].value : NULL;
}
