/* sequential.c - layers one after the other. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nn/module.h"

/* conv1, relu1, pool1, conv2, ...: each kind is counted by itself. */
static void name_children(gr_module *m)
{
    for (int i = 0; i < m->n_children; i++) {
        int count = 1;
        for (int j = 0; j < i; j++)
            count += m->children[j]->class == m->children[i]->class;
        snprintf(m->children[i]->name, sizeof m->children[i]->name, "%s%d", m->children[i]->class->kind, count);
    }
}

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    name_children(m);
    for (int i = 0; i < m->n_children; i++)
        if (!m->children[i]->class->build(m->children[i], f, list))
            return false;
    return gr__make_stages(m);
}

/*
 * Without a tape nothing will ask for x again once y is there, so its storage is free for the next stage. The batch
 * itself is the caller's.
 */
static void let_go(gr_tensor *x, gr_tensor *y, const gr_tensor *batch)
{
    if (x->ctx->recording || x == batch || !y)
        return;
    if (y->lifetime == GR__ALIAS)
        gr__bequeath(x, y);
    else
        gr__release(x);
}

static gr_tensor *forward(gr_module *m, gr_tensor *batch)
{
    gr_tensor *x = batch;
    for (int i = 0; i < m->n_stages && x; i++) {
        const char *before = gr__enter_module(m->ctx, m->stages[i].name);
        gr_tensor *y = m->stages[i].run(m->stages[i].layers, x);
        let_go(x, y, batch);
        gr__enter_module(m->ctx, before);
        x = y;
    }
    return x;
}

static const gr_module_class sequential_class = {"net", build, forward};

gr_module *gr_sequential(gr_context *ctx, ...)
{
    gr_module *m = gr_ok(ctx) ? gr__module_new(ctx, &sequential_class) : NULL;
    if (!m)
        return NULL;
    int capacity = 0;
    va_list layers;
    va_start(layers, ctx);
    for (gr_module *layer; (layer = va_arg(layers, gr_module *));) {
        if (!gr__grow(ctx, &m->children, &capacity, m->n_children + 1, sizeof *m->children))
            break;
        m->children[m->n_children++] = layer;
    }
    va_end(layers);
    if (gr_ok(ctx) && m->n_children == 0)
        gr__fail(ctx, GR_USAGE, "gr_sequential: no layers; give them one by one and NULL at the end");
    return gr_ok(ctx) ? m : NULL;
}
