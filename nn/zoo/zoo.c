/* zoo.c - the models of the recipes. */
#include "nn/zoo/zoo.h"

/*
 * The network of "Batch size in deep learning" experiments on cats and dogs: one convolution, one big dense layer.
 * He initialisation in front of each ReLU, Glorot for the answer, as published.
 */
gr_module *gr_cats_vs_dogs_net(gr_context *ctx)
{
    return gr_sequential(
        ctx,
        gr_conv2d_layer(ctx,
                        &(gr_conv2d_options){.filters = 32, .kernel = 3, .padding = GR_SAME, .init = GR_HE_UNIFORM}),
        gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 128, .init = GR_HE_UNIFORM}), gr_relu_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* The network of TensorFlow's tutorial "Convolutional Neural Network (CNN)". */
gr_module *gr_cifar10_cnn(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 32, .kernel = 3}),
                         gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
                         gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 64, .kernel = 3}), gr_relu_layer(ctx),
                         gr_max_pool2d_layer(ctx, 2),
                         gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 64, .kernel = 3}), gr_relu_layer(ctx),
                         gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 64}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 10}), NULL);
}

/* The network of "Batch Size in a Neural Network explained". */
gr_module *gr_keras_mlp(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 16}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 32, .l2 = 0.01}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
}

/* The network of TensorFlow's tutorial "Basic classification", for pictures of one channel. */
gr_module *gr_mnist_mlp(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 128}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 10}), NULL);
}
