/*
 * zoo.h - networks of published experiments, made of nn.h's layers. gr_module_build gives them their input's shape.
 */
#ifndef GRADUS_ZOO_H
#define GRADUS_ZOO_H

#include "nn/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

gr_module *gr_cats_vs_dogs_net(gr_context *ctx); /* 200x200x3 -> 1 logit: Conv 32, pool, Dense 128, Dense 1 */
gr_module *gr_cifar10_cnn(gr_context *ctx);      /* 32x32x3 -> 10 logits: the TensorFlow tutorial's network */
gr_module *gr_keras_mlp(gr_context *ctx);        /* rows of features -> 2 logits: Dense 16, Dense 32, Dense 2 */
gr_module *gr_mnist_mlp(gr_context *ctx);        /* 28x28x1 -> 10 logits: Dense 128, Dense 10 */

/*
 * ResNet-18 (He et al. 2016, table 1), parameters named as torchvision's: for ImageNet-sized images, and for 32x32
 * ones.
 */
gr_module *gr_resnet18(gr_context *ctx, int classes);
gr_module *gr_resnet18_cifar(gr_context *ctx, int classes);

#ifdef __cplusplus
}
#endif
#endif
