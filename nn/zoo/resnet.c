/*
 * resnet.c - ResNet-18 of He, Zhang, Ren, Sun, "Deep residual learning for image recognition" (CVPR 2016), table 1.
 *
 *            ImageNet-sized images            32x32 images
 *   conv1    7x7, 64, stride 2                3x3, 64
 *            3x3 max-pool, stride 2           -
 *   layer1   2 blocks of [3x3, 64; 3x3, 64]
 *   layer2   2 blocks of [3x3, 128; 3x3, 128], the first with stride 2
 *   layer3   2 blocks of [3x3, 256; 3x3, 256], the first with stride 2
 *   layer4   2 blocks of [3x3, 512; 3x3, 512], the first with stride 2
 *            global average pool, fc
 *
 * Parameters bear torchvision's names and first values: its weights can be loaded.
 */
#include "nn/zoo/zoo.h"

/* Padding as PyTorch has it: the same on all sides, whatever the stride. */
static gr_module *conv(gr_context *ctx, int filters, int kernel, int stride)
{
    const int pad = kernel / 2;
    return gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = filters,
                                                     .kernel = kernel,
                                                     .stride = stride,
                                                     .padding = GR_EXPLICIT,
                                                     .pad = {pad, pad, pad, pad},
                                                     .no_bias = true,
                                                     .init = GR_KAIMING_NORMAL});
}

static gr_module *bn(gr_context *ctx)
{
    return gr_batch_norm_layer(ctx, NULL);
}

/* A basic block; where it shrinks the image its shortcut does so by a 1x1 convolution. */
static gr_module *block(gr_context *ctx, int filters, int stride)
{
    gr_module *body = gr_sequential(ctx, conv(ctx, filters, 3, stride), bn(ctx), gr_relu_layer(ctx),
                                    conv(ctx, filters, 3, 1), bn(ctx), NULL);
    gr_module *shortcut = stride > 1 ? gr_sequential(ctx, conv(ctx, filters, 1, stride), bn(ctx), NULL) : NULL;
    return gr_residual(ctx, body, shortcut);
}

static gr_module *layer(gr_context *ctx, const char *name, int filters, int stride)
{
    return gr_named(gr_sequential(ctx, block(ctx, filters, stride), block(ctx, filters, 1), NULL), name);
}

static gr_module *fc(gr_context *ctx, int classes)
{
    return gr_named(gr_dense_layer(ctx, &(gr_dense_options){.units = classes, .init = GR_KAIMING_UNIFORM}), "fc");
}

gr_module *gr_resnet18(gr_context *ctx, int classes)
{
    const gr_max_pool2d_args pool = {.size = {3, 3},
                                     .window = {.stride = {2, 2}, .padding = GR_EXPLICIT, .pad = {1, 1, 1, 1}}};
    return gr_sequential(ctx, conv(ctx, 64, 7, 2), bn(ctx), gr_relu_layer(ctx), gr_max_pool2d_window_layer(ctx, &pool),
                         layer(ctx, "layer1", 64, 1), layer(ctx, "layer2", 128, 2), layer(ctx, "layer3", 256, 2),
                         layer(ctx, "layer4", 512, 2), gr_global_avg_pool_layer(ctx), fc(ctx, classes), NULL);
}

gr_module *gr_resnet18_cifar(gr_context *ctx, int classes)
{
    return gr_sequential(ctx, conv(ctx, 64, 3, 1), bn(ctx), gr_relu_layer(ctx), layer(ctx, "layer1", 64, 1),
                         layer(ctx, "layer2", 128, 2), layer(ctx, "layer3", 256, 2), layer(ctx, "layer4", 512, 2),
                         gr_global_avg_pool_layer(ctx), fc(ctx, classes), NULL);
}
