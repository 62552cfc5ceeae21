/* table.c - the tuned kernels of one instruction set by operation. Where there is no entry the reference serves. */
#include "kernels/cpu/cpu.h"

/*
 * Weights are rounded wherever they are read: far fewer than activations, and a copy would be as large as half a
 * model.
 */
enum { FILTERS = 1 << 1 };

const gr_kernel GR_CPU(kernels)[GR_OP_COUNT] = {
    [GR_OP_conv2d] = {GR_CPU(conv2d_forward), GR_CPU(conv2d_backward), GR_CPU(conv2d_scratch), NULL, FILTERS},
    [GR_OP_conv2d_relu_max_pool] = {GR_CPU(conv2d_relu_max_pool_forward), GR_CPU(conv2d_relu_max_pool_backward),
                                    GR_CPU(conv2d_relu_max_pool_scratch), NULL, FILTERS},
    [GR_OP_dense] = {GR_CPU(dense_forward), GR_CPU(dense_backward), GR_CPU(dense_scratch), GR_CPU(dense_takes),
                     FILTERS},
    [GR_OP_dense_sgd] = {GR_CPU(dense_sgd_forward), NULL, GR_CPU(dense_sgd_scratch), GR_CPU(dense_takes)},
    [GR_OP_dense_adam] = {GR_CPU(dense_adam_forward), NULL, GR_CPU(dense_adam_scratch), GR_CPU(dense_takes)},
    [GR_OP_max_pool2d] = {GR_CPU(max_pool2d_forward), GR_CPU(max_pool2d_backward), NULL},
    [GR_OP_batch_norm] = {GR_CPU(batch_norm_forward), GR_CPU(batch_norm_backward), GR_CPU(batch_norm_scratch)},
    [GR_OP_add] = {GR_CPU(add_forward), GR_CPU(add_backward), NULL},
    [GR_OP_global_avg_pool] = {GR_CPU(global_avg_pool_forward), GR_CPU(global_avg_pool_backward), NULL},
    [GR_OP_relu] = {GR_CPU(relu_forward), GR_CPU(relu_backward), NULL},
    [GR_OP_dropout] = {GR_CPU(dropout_forward), GR_CPU(dropout_backward), NULL},
    [GR_OP_normalise] = {GR_CPU(normalise_forward), NULL, NULL},
    [GR_OP_augment] = {GR_CPU(augment_forward), NULL, NULL},
    [GR_OP_sgd_step] = {GR_CPU(sgd_step_forward), NULL, NULL},
    [GR_OP_momentum_step] = {GR_CPU(momentum_step_forward), NULL, NULL},
    [GR_OP_adam_step] = {GR_CPU(adam_step_forward), NULL, NULL},
    [GR_OP_global_norm] = {GR_CPU(global_norm_forward), NULL, GR_CPU(global_norm_scratch)},
    [GR_OP_lars_step] = {GR_CPU(lars_step_forward), NULL, GR_CPU(lars_step_scratch)},
    [GR_OP_prox_step] = {GR_CPU(prox_step_forward), NULL, NULL},
    [GR_OP_sam_climb] = {GR_CPU(sam_climb_forward), NULL, NULL},
    [GR_OP_unscale] = {GR_CPU(unscale_forward), NULL, GR_CPU(unscale_scratch)},
    [GR_OP_overflow] = {GR_CPU(overflow_forward), NULL, GR_CPU(overflow_scratch)},
    [GR_OP_cast] = {GR_CPU(cast_forward), NULL, NULL},
};
