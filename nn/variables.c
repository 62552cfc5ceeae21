/* variables.c - variables made into a model: one slab, so that an optimizer and a file of weights can have them. */
#include <stdio.h>
#include <string.h>

#include "nn/module.h"

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    (void)m, (void)f, (void)list; /* gr_variables has done it */
    return true;
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    (void)x;
    gr__fail(m->ctx, GR_USAGE,
             "gr_forward: these are variables without layers; the program runs the operations itself");
    return NULL;
}

const gr_module_class gr__variables_class = {"variables", build, forward};

/* Whether variable i can move into a slab now. */
static bool check(gr_context *ctx, gr_tensor *const *variables, int i)
{
    const gr_tensor *t = variables[i];
    if (!gr__alive(t, "gr_variables"))
        return gr__fail(ctx, GR_USAGE, "gr_variables: variable %d is NULL", i);
    if (t->ctx != ctx || t->lifetime != GR__PERSISTENT || !t->wants_grad)
        return gr__fail(ctx, GR_USAGE, "gr_variables: variable %d was not made by gr_variable in this context", i);
    bool taken = t->slab;
    for (int j = 0; j < i; j++)
        taken |= variables[j] == t;
    return !taken || gr__fail(ctx, GR_USAGE, "gr_variables: variable %d belongs to a model already", i);
}

static bool plan(gr_module *m, gr_tensor *t, const char *name)
{
    gr_parameters *list = m->parameters;
    if (!gr__grow(m->ctx, &list->plans, &list->capacity, list->n + 1, sizeof *list->plans))
        return false;
    gr_parameter_plan *p = &list->plans[list->n++];
    *p = (gr_parameter_plan){.role = t->ndim == 1 ? GR__VECTOR : GR__PLAIN, .ndim = t->ndim, .init = GR_ZEROS};
    memcpy(p->shape, t->shape, sizeof p->shape);
    if (name)
        snprintf(p->name, sizeof p->name, "%s", name);
    else
        snprintf(p->name, sizeof p->name, "variable%d", list->n);
    return true;
}

/* A slab of the variables' shapes, and their values into it. */
static bool gather(gr_module *m, gr_tensor *const *variables)
{
    gr_parameters *list = m->parameters;
    list->slab = gr__lay_out(m->ctx, list);
    for (int i = 0; list->slab && i < list->n; i++)
        if (!gr__slab_adopt(list->slab, i, variables[i]))
            return false;
    for (int i = 0; list->slab && i < list->n; i++)
        list->plans[i].place = &list->slab->segments[i].value;
    return list->slab;
}

gr_module *gr_variables(gr_context *ctx, int n, gr_tensor *const *variables, const char *const *names)
{
    if (!gr_ok(ctx))
        return NULL;
    if (n < 1 || !variables || ctx->n_headers > 0) {
        gr__fail(ctx, GR_USAGE,
                 "gr_variables: it wants at least 1 variable, and to be called before the first operation of a step or "
                 "after gr_step_end");
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__variables_class);
    if (!m || !gr__parameters_new(m))
        return NULL;
    for (int i = 0; i < n; i++)
        if (!check(ctx, variables, i) || !plan(m, variables[i], names ? names[i] : NULL))
            return NULL;
    return gather(m, variables) ? m : NULL;
}
