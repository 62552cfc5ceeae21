/* own_layer.c - layers of a program's own: what gr_module_new makes. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "nn/module.h"

enum { NAME_SIZE = 32 };

/* How many numbers one output is made of, and how many outputs one number has a part in; see gr_variable_options. */
static void set_fans(gr_parameter_plan *p, const gr_variable_options *v)
{
    int64_t area = 1; /* of a filter */
    for (int i = 1; i + 1 < v->ndim; i++)
        area *= v->shape[i];
    const int64_t first = v->ndim > 0 ? v->shape[0] : 1, last = v->ndim > 0 ? v->shape[v->ndim - 1] : 1;
    p->fan_in = v->ndim == 2 ? first : v->ndim < 2 ? 1 : area * last;
    p->fan_out = v->ndim == 2 ? last : area * first;
    p->fan_in = v->fan_in > 0 ? v->fan_in : p->fan_in;
    p->fan_out = v->fan_out > 0 ? v->fan_out : p->fan_out;
}

static bool is_name(const char *name, size_t size)
{
    return name && *name && strlen(name) < size && !strchr(name, '.');
}

static bool check_variable(gr_module *m, const gr_variable_options *v)
{
    if (!m->own.list)
        return gr__fail(m->ctx, GR_USAGE, "gr_module_declare: %s; variables are declared by its build function alone",
                        m->name);
    if (m->own.n == GR_MAX_VARIABLES)
        return gr__fail(m->ctx, GR_USAGE, "gr_module_declare: %s has %d variables already, the most there may be",
                        m->name, GR_MAX_VARIABLES);
    if (!is_name(v->name, NAME_SIZE))
        return gr__fail(m->ctx, GR_USAGE, "gr_module_declare: %s: a variable's name has 1 to %d characters and no dot",
                        m->name, NAME_SIZE - 1);
    for (int i = m->own.list->n - m->own.n; i < m->own.list->n; i++)
        if (!strcmp(strrchr(m->own.list->plans[i].name, '.') + 1, v->name))
            return gr__fail(m->ctx, GR_USAGE, "gr_module_declare: %s has a variable %s already", m->name, v->name);
    if ((unsigned)v->init > GR_ONES || v->fan_in < 0 || v->fan_out < 0 || !(v->l2 >= 0))
        return gr__fail(m->ctx, GR_USAGE, "gr_module_declare: %s.%s: init %d, fans %lld and %lld, l2 %g", m->name,
                        v->name, (int)v->init, (long long)v->fan_in, (long long)v->fan_out, v->l2);
    return gr__shape_check(m->ctx, gr_real(m->ctx), v->ndim, v->shape);
}

bool gr_module_declare(gr_module *m, const gr_variable_options *v)
{
    if (!m || !gr_ok(m->ctx))
        return false;
    if (m->class != &gr__own_class || !v)
        return gr__fail(m->ctx, GR_USAGE, "gr_module_declare: %s is no layer of gr_module_new, or there are no options",
                        m->name);
    if (!check_variable(m, v))
        return false;
    gr_parameter_plan p = {
        .role = v->ndim == 1 ? GR__VECTOR : GR__PLAIN, .ndim = v->ndim, .init = v->init, .l2 = v->l2};
    memcpy(p.shape, v->shape, sizeof p.shape);
    set_fans(&p, v);
    p.place = &m->own.variables[m->own.n++];
    return gr__declare(m, m->own.list, v->name, &p);
}

gr_tensor *gr_module_variable(const gr_module *m, int i)
{
    if (!m || !gr_ok(m->ctx))
        return NULL;
    if (m->class == &gr__own_class && i >= 0 && i < m->own.n && m->own.variables[i])
        return m->own.variables[i];
    gr__fail(m->ctx, GR_USAGE, "gr_module_variable: %s has no variable %d, or is not built yet", m->name, i);
    return NULL;
}

void *gr_module_user(const gr_module *m)
{
    return m && m->class == &gr__own_class ? m->own.options.user : NULL;
}

bool gr_module_fail(gr_module *m, const char *message)
{
    return m && gr__fail(m->ctx, GR_USAGE, "%s: %s", m->name, message ? message : "it cannot go on");
}

/* Whether build has left a shape that a sample can have. */
static bool check_output(gr_module *m, const gr_sample_shape *s)
{
    bool good = s->ndim >= 1 && s->ndim <= 3;
    for (int i = 0; good && i < s->ndim; i++)
        good = s->dim[i] >= 1;
    return good || gr_module_fail(m, "its build function announced no shape of 1 to 3 dimensions of at least 1");
}

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    gr_sample_shape shape = {.ndim = f->ndim, .dim = {f->dim[0], f->dim[1], f->dim[2]}};
    const gr_sample_shape before = shape;
    if (m->own.options.build) {
        m->own.list = list;
        const bool built = m->own.options.build(m, &shape);
        m->own.list = NULL;
        if (!built || !gr_ok(m->ctx))
            return gr_module_fail(m, "its build function gave up without a reason; gr_module_fail gives one");
        if (!check_output(m, &shape))
            return false;
    }
    if (memcmp(&shape, &before, sizeof shape) != 0)
        *f = (gr_features){.ndim = shape.ndim, .dim = {shape.dim[0], shape.dim[1], shape.dim[2]}};
    m->own.output = *f;
    return true;
}

/* Whether y is what build announced, for as many samples as x has. */
static bool fits(gr_module *m, const gr_tensor *x, const gr_tensor *y)
{
    const gr_features *f = &m->own.output;
    bool same = y->ctx == m->ctx && y->ndim == f->ndim + 1 && y->shape[0] == x->shape[0];
    for (int i = 0; same && i < f->ndim; i++)
        same = y->shape[i + 1] == f->dim[i];
    if (same)
        return true;
    gr_tensor wanted = {.ndim = f->ndim + 1, .shape = {x->shape[0], f->dim[0], f->dim[1], f->dim[2]}};
    char is[96], wants[96];
    gr__shape_text(y, is, sizeof is);
    gr__shape_text(&wanted, wants, sizeof wants);
    return gr__fail(m->ctx, GR_USAGE, "%s: its forward function gave %s, its build function announced %s", m->name, is,
                    wants);
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    gr_tensor *y = m->own.options.forward(m, x);
    if (!y)
        gr_module_fail(m, "its forward function gave NULL without a reason; gr_module_fail gives one");
    return gr__alive(y, m->name) && fits(m, x, y) ? y : NULL;
}

const gr_module_class gr__own_class = {"own", build, forward};

/* Names are made by appending a number, so a kind must not end in one. */
static bool is_kind(const char *kind, size_t size)
{
    return is_name(kind, size) && !isdigit((unsigned char)kind[strlen(kind) - 1]);
}

gr_module *gr_module_new(gr_context *ctx, const gr_module_options *options)
{
    if (!gr_ok(ctx))
        return NULL;
    if (!options || !options->forward || !is_kind(options->kind, sizeof((gr_own_layer *)0)->kind)) {
        gr__fail(ctx, GR_USAGE,
                 "gr_module_new: it wants a forward function and a kind of 1 to 15 characters without a dot and with "
                 "no digit at the end");
        return NULL;
    }
    gr_module *m = gr__module_new(ctx, &gr__own_class);
    if (!m)
        return NULL;
    m->own.options = *options;
    snprintf(m->own.kind, sizeof m->own.kind, "%s", options->kind);
    m->own.options.kind = m->own.kind;
    snprintf(m->name, sizeof m->name, "%s1", m->own.kind);
    return m;
}
