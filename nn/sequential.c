/* sequential.c - layers one after the other. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/module.h"

/*
 * conv1, relu1, pool1, conv2, ...: each kind is counted by itself. The layers of a sequential within a sequential are
 * 0, 1, 2, ..., as PyTorch calls them.
 */
static void name_child(gr_module *m, int i)
{
    gr_module *child = m->children[i];
    int number = m->numbered ? i : 1;
    for (int j = 0; !m->numbered && j < i; j++)
        number += !strcmp(gr__kind(m->children[j]), gr__kind(child));
    char name[32];
    snprintf(name, sizeof name, "%s%d", m->numbered ? "" : gr__kind(child), number);
    gr__name_module(child, m, name);
    child->numbered = child->class == &gr__sequential_class;
}

static bool build(gr_module *m, gr_features *f, gr_parameters *list)
{
    for (int i = 0; i < m->n_children; i++) {
        name_child(m, i);
        if (!m->children[i]->class->build(m->children[i], f, list))
            return gr__blame(m->children[i]);
    }
    return gr__check_answer(m, f) && gr__make_stages(m);
}

void gr__let_go(gr_tensor *x, gr_tensor *y, const gr_tensor *input)
{
    if (x == input || x == y || !y)
        return;
    if (x->ctx->recording && (x->wants_grad || y->wants_grad)) /* the backward pass comes by */
        return;
    if (y->lifetime == GR__ALIAS)
        gr__transfer_storage(x, y);
    else
        gr__release(x);
}

gr_tensor *gr__run_stages(gr_module *m, gr_tensor *input, int first, int last)
{
    gr_tensor *x = input;
    for (int i = first; i < last && x; i++) {
        const char *before = gr__enter_module(m->ctx, m->stages[i].name);
        const double begin = gr_span_begin(m->ctx, m->stages[i].name);
        gr_tensor *y = m->stages[i].run(m->stages[i].layers, x);
        gr_span_end(m->ctx, m->stages[i].name, begin);
        gr__let_go(x, y, input);
        gr__enter_module(m->ctx, before);
        x = y;
    }
    return x;
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    return gr__run_stages(m, x, 0, m->n_stages);
}

const gr_module_class gr__sequential_class = {"net", build, forward};

gr_module *gr__sequential_of(gr_context *ctx, int n, gr_module *const *layers)
{
    gr_module *m = gr_ok(ctx) ? gr__module_new(ctx, &gr__sequential_class) : NULL;
    if (!m)
        return NULL;
    if (n == 0) {
        gr__fail(ctx, GR_USAGE, "gr_sequential: no layers; give them one by one and NULL at the end");
        return NULL;
    }
    m->children = gr__calloc(ctx, (size_t)n, sizeof *m->children);
    for (int i = 0; m->children && i < n; i++) {
        if (!gr__place(layers[i], "gr_sequential"))
            return NULL;
        m->children[m->n_children++] = layers[i];
    }
    return gr_ok(ctx) ? m : NULL;
}

gr_module *gr_sequential(gr_context *ctx, ...)
{
    gr_module **list = NULL;
    int n = 0, capacity = 0;
    bool good = gr_ok(ctx);
    va_list layers;
    va_start(layers, ctx);
    for (gr_module *layer; good && (layer = va_arg(layers, gr_module *));) {
        good = gr__grow(ctx, &list, &capacity, n + 1, sizeof *list);
        if (good)
            list[n++] = layer;
    }
    va_end(layers);
    gr_module *m = good ? gr__sequential_of(ctx, n, list) : NULL;
    free(list);
    return m;
}
