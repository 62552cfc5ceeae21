/*
 * fusion.c - which neighbouring layers run as one operation. A fused stage computes what its layers would one by one;
 * gr_options.no_fusion keeps them apart.
 */
#include <stdio.h>
#include <string.h>

#include "nn/module.h"

static gr_tensor *run_single(gr_module *const *layers, gr_tensor *x)
{
    return layers[0]->class->forward(layers[0], x);
}

static gr_tensor *run_conv_relu(gr_module *const *layers, gr_tensor *x)
{
    gr_module *conv = layers[0];
    gr_conv2d_args args = {.window = gr__conv2d_window(&conv->conv), .relu = true};
    return gr_conv2d(x, conv->weight, conv->bias, &args);
}

static gr_tensor *run_conv_relu_pool(gr_module *const *layers, gr_tensor *x)
{
    gr_module *conv = layers[0];
    gr_conv2d_relu_max_pool_args args = {.conv = {.window = gr__conv2d_window(&conv->conv)}, .pool = layers[2]->pool};
    return gr_conv2d_relu_max_pool(x, conv->weight, conv->bias, &args);
}

static gr_tensor *run_dense_relu(gr_module *const *layers, gr_tensor *x)
{
    return gr_dense(x, layers[0]->weight, layers[0]->bias, &(gr_dense_args){.relu = true});
}

static gr_tensor *run_batch_norm_relu(gr_module *const *layers, gr_tensor *x)
{
    return gr__batch_norm_run(layers[0], x, NULL, true);
}

/* Longest pattern first. */
static const struct {
    int n;
    const gr_module_class *classes[3];
    gr_tensor *(*run)(gr_module *const *layers, gr_tensor *x);
} patterns[] = {
    {3, {&gr__conv2d_class, &gr__relu_class, &gr__max_pool2d_class}, run_conv_relu_pool},
    {2, {&gr__conv2d_class, &gr__relu_class}, run_conv_relu},
    {2, {&gr__dense_class, &gr__relu_class}, run_dense_relu},
    {2, {&gr__batch_norm_class, &gr__relu_class}, run_batch_norm_relu},
};

static bool matches(gr_module *const *layers, int left, int pattern)
{
    if (left < patterns[pattern].n)
        return false;
    for (int i = 0; i < patterns[pattern].n; i++)
        if (layers[i]->class != patterns[pattern].classes[i])
            return false;
    return true;
}

/* Makes the stage that begins at layers[0]; returns how many layers it takes. */
static int make_stage(gr_stage *stage, gr_module *const *layers, int left, bool fuse)
{
    int n = 1;
    stage->run = run_single;
    for (size_t i = 0; fuse && n == 1 && i < sizeof patterns / sizeof *patterns; i++) {
        if (matches(layers, left, (int)i)) {
            n = patterns[i].n;
            stage->run = patterns[i].run;
        }
    }
    for (int i = 0; i < n; i++) {
        stage->layers[i] = layers[i];
        size_t at = strlen(stage->name);
        snprintf(stage->name + at, sizeof stage->name - at, i ? "+%s" : "%s",
                 i ? gr__own_name(layers[i]) : layers[i]->name);
    }
    return n;
}

bool gr__make_stages(gr_module *m)
{
    m->stages = gr__calloc(m->ctx, (size_t)m->n_children + 1, sizeof *m->stages);
    if (!m->stages)
        return false;
    for (int i = 0; i < m->n_children;)
        i += make_stage(&m->stages[m->n_stages++], m->children + i, m->n_children - i, !m->ctx->options.no_fusion);
    return true;
}
