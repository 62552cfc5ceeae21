/*
 * answers.c - answers NET WEIGHTS HEIGHT WIDTH PICTURES OUT [EXPORT torch|keras|npz]: what NET (cats-vs-dogs,
 * normalised or resnet18-cifar) with these weights makes of PICTURES, a file of f32 NHWC without a header, into OUT,
 * f32 without a header; and the weights again for another tool. Prints what was told of the weights.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A convolution with bias, normalisation and pooling, two dense layers behind a flatten. */
static gr_module *normalised(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3, .padding = GR_SAME}),
                         gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
                         gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 5}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
}

static gr_module *net_of(gr_context *ctx, const char *name)
{
    if (strcmp(name, "cats-vs-dogs") == 0)
        return gr_cats_vs_dogs_net(ctx);
    return strcmp(name, "normalised") == 0 ? normalised(ctx) : gr_resnet18_cifar(ctx, 10);
}

static gr_weights_reader reader_of(const char *name)
{
    return strcmp(name, "torch") == 0 ? GR_FOR_TORCH : strcmp(name, "keras") == 0 ? GR_FOR_KERAS : GR_FOR_NUMPY;
}

/* Pictures until the file ends, one by one. */
static bool answer(gr_module *net, gr_tensor *x, const char *in, const char *out)
{
    FILE *from = fopen(in, "rb"), *to = fopen(out, "wb");
    float *picture = malloc((size_t)gr_count(x) * sizeof *picture), logits[16];
    bool good = from && to && picture;
    while (good && fread(picture, sizeof *picture, (size_t)gr_count(x), from) == (size_t)gr_count(x)) {
        gr_upload(x, picture);
        gr_tensor *z = gr_forward(net, x);
        good = z && gr_download(z, logits) && fwrite(logits, sizeof *logits, (size_t)gr_count(z), to);
    }
    free(picture);
    if (from)
        fclose(from);
    return (!to || fclose(to) == 0) && good;
}

int main(int argc, char **argv)
{
    if (argc != 7 && argc != 9)
        return GR_USAGE;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = net_of(ctx, argv[1]);
    const int64_t shape[4] = {1, atoi(argv[3]), atoi(argv[4]), 3};
    gr_import_report report;
    gr_module_build(net, 3, shape + 1);
    const bool read = gr_import_weights(net, argv[2], NULL, &report);
    gr_record(ctx, false);
    const bool good = read && answer(net, gr_tensor_new(ctx, GR_F32, 4, shape), argv[5], argv[6]) &&
                      (argc == 7 || gr_export_weights(net, argv[7], reader_of(argv[8])));
    if (!good)
        fprintf(stderr, "%s\n%s", gr_error_text(ctx), report.table ? report.table : "");
    else
        puts(report.told);
    return gr_close(ctx);
}
