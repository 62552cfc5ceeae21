/*
 * dump_images.c - writes the first images of a recipe's training part, as the loader gives them without shuffling:
 * dump_images cats-vs-dogs|cifar10-cnn FOLDER COUNT FILE. For make_trajectories.py, so that PyTorch sees the same pixels.
 *
 * The file holds images u8 [n,H,W,3] and labels i32 [n].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/safetensors.h"
#include "data/data.h"

static gr_dataset *training_part(gr_context *ctx, const char *recipe, const char *folder)
{
    if (!strcmp(recipe, "cifar10-cnn"))
        return gr_cifar10(ctx, folder).train;
    gr_image_options options = {.height = 200, .width = 200, .per_class = 1000};
    return gr_split_per_class(gr_image_folder(ctx, folder, &options), 600, 200, 200).train;
}

static bool dump(gr_context *ctx, gr_dataset *set, int64_t n, const char *path)
{
    int64_t shape[3];
    if (!gr_ok(ctx) || n < 1 || n > gr_dataset_size(set))
        return false;
    gr_dataset_shape(set, shape);
    size_t bytes = (size_t)(shape[0] * shape[1] * shape[2]);
    uint8_t *images = calloc((size_t)n, bytes);
    int32_t *labels = calloc((size_t)n, sizeof *labels);
    for (int64_t i = 0; images && labels && i < n; i++) {
        memcpy(images + (size_t)i * bytes, gr_dataset_image(set, i), bytes);
        labels[i] = gr_dataset_label(set, i);
    }
    gr_saved_tensor saved[2] = {
        {.name = "images", .type = GR_U8, .ndim = 4, .shape = {n, shape[0], shape[1], shape[2]}, .data = images},
        {.name = "labels", .type = GR_I32, .ndim = 1, .shape = {n}, .data = labels}};
    bool good = images && labels && gr__safetensors_write(ctx, path, 2, saved);
    free(images);
    free(labels);
    return good;
}

int main(int argc, char **argv)
{
    gr_context *ctx = gr_open(NULL);
    bool good = argc == 5 && dump(ctx, training_part(ctx, argv[1], argv[2]), atoll(argv[3]), argv[4]);
    if (!good)
        fprintf(stderr, "dump_images RECIPE FOLDER COUNT FILE: %s\n", gr_error_text(ctx));
    gr_close(ctx);
    return !good;
}
