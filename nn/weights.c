/* weights.c - a model's parameters to a safetensors file and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/half.h"
#include "nn/weights.h"

bool gr__weights_ready(const gr_module *net, const char *path, const char *what)
{
    if (!net || !gr_ok(net->ctx))
        return false;
    if (!path)
        return gr__fail(net->ctx, GR_USAGE, "%s: the path is NULL", what);
    return gr_parameter_count(net) > 0 ||
           gr__fail(net->ctx, GR_USAGE, "%s: the model has no parameters yet; call gr_module_build first", what);
}

int gr__weights_count(const gr_module *net)
{
    return gr_parameter_count(net) + net->parameters->statistics->n;
}

int gr_state_count(const gr_module *net)
{
    return gr_parameter_count(net) > 0 ? gr__weights_count(net) : 0;
}

const char *gr_state_name(const gr_module *net, int i)
{
    return i >= 0 && i < gr_state_count(net) ? gr__stored_plan(net, i)->name : "";
}

gr_tensor *gr_state(const gr_module *net, int i)
{
    return i >= 0 && i < gr_state_count(net) ? gr__stored_value(net, i) : NULL;
}

const gr_parameter_plan *gr__stored_plan(const gr_module *net, int i)
{
    int n = gr_parameter_count(net);
    return i < n ? &net->parameters->plans[i] : &net->parameters->statistics->plans[i - n];
}

gr_tensor *gr__stored_value(const gr_module *net, int i)
{
    return *gr__stored_plan(net, i)->place;
}

void *gr__weights_bring(const gr_parameter_plan *plan, const gr_tensor *t, gr_disk_order order, gr_type type)
{
    const size_t size = gr_type_size(t->type);
    char *disk = gr__calloc(t->ctx, (size_t)t->count, gr_type_size(type));
    char *memory = gr__calloc(t->ctx, (size_t)t->count, size);
    bool good = disk && memory && gr_download(t, memory);
    for (int64_t i = 0; good && i < t->count; i++) {
        const char *from = memory + size * (size_t)gr__memory_index(plan, order, i);
        if (type == t->type)
            memcpy(disk + size * (size_t)i, from, size);
        else
            ((float *)disk)[i] = (float)*(const double *)from;
    }
    free(memory);
    if (good)
        return disk;
    free(disk);
    return NULL;
}

bool gr__weights_store(const gr_module *net, bool exact, gr_saved_tensor *saved)
{
    bool good = true;
    for (int i = 0; good && i < gr__weights_count(net); i++) {
        const gr_parameter_plan *plan = gr__stored_plan(net, i);
        const gr_tensor *t = gr__stored_value(net, i);
        snprintf(saved[i].name, sizeof saved[i].name, "%s", plan->name);
        saved[i].type = exact ? t->type : GR_F32;
        saved[i].ndim = plan->ndim;
        gr__disk_shape(plan, GR__AS_TORCH, saved[i].shape);
        saved[i].data = gr__weights_bring(plan, t, GR__AS_TORCH, saved[i].type);
        good = saved[i].data;
    }
    return good;
}

/* With notes or, where they are NULL, without. */
static bool save(gr_module *net, const char *path, int n_notes, const gr_saved_text *notes)
{
    gr_context *ctx = net->ctx;
    const int n = gr__weights_count(net);
    gr_saved_tensor *saved = gr__calloc(ctx, (size_t)n, sizeof *saved);
    const bool good = saved && gr__weights_store(net, false, saved) &&
                      (notes ? gr__safetensors_write_checked(ctx, path, n, saved, n_notes, notes)
                             : gr__safetensors_write(ctx, path, n, saved));
    for (int i = 0; saved && i < n; i++)
        free((void *)saved[i].data);
    free(saved);
    return good;
}

bool gr_save_weights(gr_module *net, const char *path)
{
    return gr__weights_ready(net, path, "gr_save_weights") && save(net, path, 0, NULL);
}

bool gr_save_weights_with(gr_module *net, const char *path, int n, const gr_note *notes)
{
    if (!gr__weights_ready(net, path, "gr_save_weights_with"))
        return false;
    gr_saved_text *texts = gr__calloc(net->ctx, (size_t)(n > 0 ? n : 1), sizeof *texts);
    for (int i = 0; texts && i < n; i++)
        texts[i] = (gr_saved_text){notes[i].key, notes[i].value};
    const bool good = texts && save(net, path, n, texts);
    free(texts);
    return good;
}

bool gr_read_notes(gr_context *ctx, const char *path, int n, const char *const *keys, const char **values)
{
    gr_safetensors file;
    if (!gr_ok(ctx))
        return false;
    if (!path)
        return gr__fail(ctx, GR_USAGE, "gr_read_notes wants the path of a file of weights");
    if (!gr__weights_read(ctx, path, &file))
        return false;
    for (int i = 0; i < n; i++) {
        const char *text = gr__safetensors_text(&file, keys[i]);
        values[i] = text ? gr__keep_text(ctx, text) : NULL;
    }
    gr__safetensors_free(&file);
    return gr_ok(ctx);
}

/* One line for each way in which a parameter and the file differ; false: recorded. */
static bool check(gr_context *ctx, const char *path, const gr_parameter_plan *plan, const gr_saved_tensor *t)
{
    int64_t want[GR_MAX_DIMS];
    gr__disk_shape(plan, GR__AS_TORCH, want);
    if (!t)
        return gr__fail(ctx, GR_BAD_DATA, "%s: has no tensor %s; these are weights of another model", path, plan->name);
    if (t->type != GR_F32 && t->type != GR_F64)
        return gr__fail(ctx, GR_BAD_DATA, "%s: %s has type %s; wanted is f32", path, plan->name, gr_type_name(t->type));
    bool same = t->ndim == plan->ndim;
    for (int i = 0; i < plan->ndim && same; i++)
        same = t->shape[i] == want[i];
    if (same)
        return true;
    gr_tensor wanted = {.ndim = plan->ndim}, found = {.ndim = t->ndim};
    memcpy(wanted.shape, want, sizeof want);
    memcpy(found.shape, t->shape, sizeof t->shape);
    char a[96], b[96];
    gr__shape_text(&found, a, sizeof a);
    gr__shape_text(&wanted, b, sizeof b);
    return gr__fail(ctx, GR_BAD_DATA, "%s: %s has shape %s; the model wants %s", path, plan->name, a, b);
}

/* PyTorch's count of the batches that a running statistic has seen, and the rest of a checkpoint. */
static bool is_beside(const char *name)
{
    static const char counter[] = ".num_batches_tracked";
    size_t length = strlen(name);
    return (length >= sizeof counter && !strcmp(name + length - (sizeof counter - 1), counter)) ||
           !strncmp(name, GR__BESIDE_WEIGHTS, sizeof GR__BESIDE_WEIGHTS - 1);
}

bool gr__weights_check(const gr_module *net, const char *path, const gr_safetensors *file)
{
    int n = gr__weights_count(net);
    for (int i = 0; i < n; i++)
        if (!check(net->ctx, path, gr__stored_plan(net, i), gr__safetensors_find(file, gr__stored_plan(net, i)->name)))
            return false;
    for (int i = 0; i < file->n; i++) {
        bool known = is_beside(file->tensors[i].name);
        for (int j = 0; j < n && !known; j++)
            known = !strcmp(file->tensors[i].name, gr__stored_plan(net, j)->name);
        if (!known)
            return gr__fail(net->ctx, GR_BAD_DATA, "%s: has a tensor %s that the model does not have", path,
                            file->tensors[i].name);
    }
    return true;
}

/* Element i of a file's tensor; by bytes: a file's tensors need not be aligned. */
static double element(const gr_saved_tensor *saved, int64_t i)
{
    const char *at = (const char *)saved->data + (size_t)i * gr_type_size(saved->type);
    double wide;
    float narrow;
    uint16_t half;
    switch (saved->type) {
    case GR_F64:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case GR_F32:
        memcpy(&narrow, at, sizeof narrow);
        return (double)narrow;
    default:
        memcpy(&half, at, sizeof half);
        return saved->type == GR_F16 ? gr__f16_value(half) : gr__bf16_value(half);
    }
}

bool gr__weights_put(const gr_parameter_plan *plan, gr_disk_order order, const gr_saved_tensor *saved, gr_tensor *t)
{
    if (!t->data)
        return true; /* a dry run holds no values */
    void *memory = gr__calloc(t->ctx, (size_t)t->count, gr_type_size(t->type));
    for (int64_t i = 0; memory && i < t->count; i++) {
        const double value = element(saved, i);
        const int64_t j = gr__memory_index(plan, order, i);
        if (t->type == GR_F64)
            ((double *)memory)[j] = value;
        else
            ((float *)memory)[j] = (float)value;
    }
    bool good = memory && gr_upload(t, memory);
    free(memory);
    return good;
}

bool gr__weights_load(gr_module *net, const gr_safetensors *file)
{
    bool good = true;
    for (int i = 0; good && i < gr__weights_count(net); i++)
        good = gr__weights_put(gr__stored_plan(net, i), GR__AS_TORCH,
                               gr__safetensors_find(file, gr__stored_plan(net, i)->name), gr__stored_value(net, i));
    return good;
}

bool gr_load_weights(gr_module *net, const char *path)
{
    gr_safetensors file;
    if (!gr__weights_ready(net, path, "gr_load_weights") || !gr__weights_read(net->ctx, path, &file))
        return false;
    const bool good = gr__weights_check(net, path, &file) && gr__weights_load(net, &file); /* all of it or none */
    gr__safetensors_free(&file);
    return good;
}
