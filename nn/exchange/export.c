/* export.c - a model's weights as other tools want them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/exchange/exchange.h"

/* conv1.weight in Keras' words: conv1/kernel. A variable of a layer of the program's own keeps its name. */
static void name_for_keras(const gr_parameter_plan *plan, char name[128])
{
    size_t length;
    const gr_term word = gr__word_of(GR__AS_TORCH, plan->name, &length);
    const bool normalisation = plan->role == GR__VECTOR && word == GR__WEIGHT;
    if (word < GR__WORDS)
        snprintf(name, 128, "%.*s/%s", (int)length, plan->name, gr__word(GR__AS_KERAS, word, normalisation));
    else
        snprintf(name, 128, "%s", plan->name);
}

/* The shift of a normalisation is beta: its layer has a scale of one dimension. */
static bool is_shift(const gr_module *net, int i)
{
    return i > 0 && gr__stored_plan(net, i)->role == GR__VECTOR && gr__stored_plan(net, i - 1)->role == GR__VECTOR &&
           strstr(gr__stored_plan(net, i)->name, ".bias") && strstr(gr__stored_plan(net, i - 1)->name, ".weight");
}

static bool store_for_keras(const gr_module *net, gr_saved_tensor *saved)
{
    bool good = true;
    for (int i = 0; good && i < gr__weights_count(net); i++) {
        const gr_parameter_plan *plan = gr__stored_plan(net, i);
        name_for_keras(plan, saved[i].name);
        if (is_shift(net, i))
            strcpy(strrchr(saved[i].name, '/') + 1, gr__word(GR__AS_KERAS, GR__BIAS, true));
        saved[i].type = GR_F32;
        saved[i].ndim = plan->ndim;
        gr__disk_shape(plan, GR__AS_KERAS, saved[i].shape);
        saved[i].data = gr__weights_bring(plan, gr__stored_value(net, i), GR__AS_KERAS, GR_F32);
        good = saved[i].data;
    }
    return good;
}

/* PyTorch counts the batches that a running statistic has seen, and misses the counter: here it is 0. */
static int add_counters(const gr_module *net, gr_saved_tensor *saved)
{
    static const int64_t zero = 0;
    int n = 0;
    for (int i = gr_parameter_count(net); i < gr__weights_count(net); i++) {
        size_t length;
        const char *name = gr__stored_plan(net, i)->name;
        if (gr__word_of(GR__AS_TORCH, name, &length) != GR__MEAN)
            continue;
        saved[n] = (gr_saved_tensor){.type = GR_I64, .data = &zero};
        snprintf(saved[n].name, sizeof saved[n].name, "%.*s.%s", (int)length, name,
                 gr__word(GR__AS_TORCH, GR__COUNTER, false));
        n++;
    }
    return n;
}

bool gr_export_weights(gr_module *net, const char *path, gr_weights_reader reader)
{
    if (!gr__weights_ready(net, path, "gr_export_weights"))
        return false;
    gr_context *ctx = net->ctx;
    const int n = gr__weights_count(net);
    gr_saved_tensor *saved = gr__calloc(ctx, (size_t)n * 2, sizeof *saved);
    bool good = saved && (reader == GR_FOR_KERAS ? store_for_keras(net, saved) : gr__weights_store(net, false, saved));
    const int counters = good && reader == GR_FOR_TORCH ? add_counters(net, saved + n) : 0;
    good = good && (reader == GR_FOR_NUMPY ? gr__npz_write(ctx, path, n, saved)
                                           : gr__safetensors_write(ctx, path, n + counters, saved));
    for (int i = 0; saved && i < n; i++)
        free((void *)saved[i].data);
    free(saved);
    return good;
}
