/* list.c - what is in a file of weights, whoever wrote it. */
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "nn/weights.h"

static bool fill(gr_context *ctx, const gr_saved_tensor *t, gr_listed_tensor *out)
{
    *out = (gr_listed_tensor){
        .name = gr__keep_text(ctx, t->name), .type = gr_type_name(t->type), .ndim = t->ndim, .count = 1};
    memcpy(out->shape, t->shape, sizeof t->shape);
    for (int d = 0; d < t->ndim; d++)
        out->count *= t->shape[d];
    out->bytes = out->count * (int64_t)gr_type_size(t->type);
    return out->name;
}

int gr_list_weights(gr_context *ctx, const char *path, const gr_listed_tensor **list)
{
    gr_safetensors file;
    *list = NULL;
    if (!gr_ok(ctx))
        return -1;
    if (!path) {
        gr__fail(ctx, GR_USAGE, "gr_list_weights wants the path of a file of weights");
        return -1;
    }
    if (!gr__weights_read(ctx, path, &file))
        return -1;
    gr_listed_tensor *all = gr__calloc(ctx, (size_t)file.n + 1, sizeof *all);
    bool good = all && gr__own(ctx, all, free);
    for (int i = 0; good && i < file.n; i++)
        good = fill(ctx, &file.tensors[i], &all[i]);
    const int n = good ? file.n : -1;
    *list = good ? all : NULL;
    gr__safetensors_free(&file);
    return n;
}
