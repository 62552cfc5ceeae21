/*
 * dump_batches.c - the first images of a recipe's training set in their own order, for make_golden.py:
 * dump_batches cats-vs-dogs|cifar10-cnn ROOT COUNT FILE. FILE: i32 height, width, count; count x (i32 label, u8
 * pixels).
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The training part as the recipe makes it. */
static gr_dataset *training_set(gr_context *ctx, const char *recipe, const char *root)
{
    if (strcmp(recipe, "cats-vs-dogs"))
        return gr_cifar10(ctx, root).train;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/PetImages", root);
    gr_dataset *pets =
        gr_image_folder(ctx, folder, &(gr_image_options){.height = 200, .width = 200, .per_class = 1000});
    return gr_split_per_class(pets, 600, 200, 200).train;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return GR_USAGE;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = training_set(ctx, argv[1], argv[2]);
    FILE *f = fopen(argv[4], "wb");
    int64_t shape[3] = {0}, count = atoll(argv[3]);
    if (gr_ok(ctx) && f && count <= gr_dataset_size(set)) {
        gr_dataset_shape(set, shape);
        int32_t head[3] = {(int32_t)shape[0], (int32_t)shape[1], (int32_t)count};
        fwrite(head, sizeof head, 1, f);
        for (int64_t i = 0; i < count; i++) {
            int32_t label = gr_dataset_label(set, i);
            fwrite(&label, sizeof label, 1, f);
            fwrite(gr_dataset_image(set, i), 1, (size_t)(shape[0] * shape[1] * shape[2]), f);
        }
    }
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    if (!f || fclose(f) != 0)
        return GR_IO_ERROR;
    return gr_close(ctx);
}
