/*
 * refusals.c - what a front must refuse: with GR_USAGE, and a message that names the operation and says what is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/table/checks.h"

/* A tensor of the context's own real type. */
static gr_tensor *real(gr_context *ctx, int ndim, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return gr_tensor_new(ctx, gr_real(ctx), ndim, (int64_t[]){a, b, c, d});
}

static gr_tensor *vector(gr_context *ctx, int64_t n)
{
    return real(ctx, 1, n, 0, 0, 0);
}

static gr_tensor *matrix(gr_context *ctx, int64_t n, int64_t m)
{
    return real(ctx, 2, n, m, 0, 0);
}

static gr_tensor *images(gr_context *ctx)
{
    return real(ctx, 4, 2, 5, 6, 3);
}

static gr_tensor *labels(gr_context *ctx, int64_t n)
{
    return gr_tensor_new(ctx, GR_I32, 1, &n);
}

static void conv2d_flat_images(gr_context *ctx)
{
    gr_conv2d(matrix(ctx, 2, 90), real(ctx, 4, 4, 3, 3, 3), NULL, NULL);
}

static void conv2d_channels(gr_context *ctx)
{
    gr_conv2d(images(ctx), real(ctx, 4, 4, 3, 3, 2), NULL, NULL);
}

static void conv2d_bias(gr_context *ctx)
{
    gr_conv2d(images(ctx), real(ctx, 4, 4, 3, 3, 3), vector(ctx, 5), NULL);
}

static void conv2d_too_large(gr_context *ctx)
{
    gr_conv2d(images(ctx), real(ctx, 4, 4, 6, 3, 3), NULL, NULL);
}

static void conv2d_stride(gr_context *ctx)
{
    gr_conv2d(images(ctx), real(ctx, 4, 4, 3, 3, 3), NULL, &(gr_conv2d_args){.window.stride = {-1, 1}});
}

static void conv2d_padding(gr_context *ctx)
{
    gr_window window = {.padding = GR_EXPLICIT, .pad = {0, 0, -1, 0}};
    gr_conv2d(images(ctx), real(ctx, 4, 4, 3, 3, 3), NULL, &(gr_conv2d_args){.window = window});
}

static void conv2d_padding_kind(gr_context *ctx)
{
    gr_conv2d(images(ctx), real(ctx, 4, 4, 3, 3, 3), NULL, &(gr_conv2d_args){.window.padding = (gr_padding)3});
}

static void conv2d_type(gr_context *ctx)
{
    gr_conv2d(gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){2, 5, 6, 3}), real(ctx, 4, 4, 3, 3, 3), NULL, NULL);
}

static void max_pool2d_matrix(gr_context *ctx)
{
    gr_max_pool2d(matrix(ctx, 5, 6), &(gr_max_pool2d_args){.size = {2, 2}});
}

static void max_pool2d_no_size(gr_context *ctx)
{
    gr_max_pool2d(images(ctx), NULL);
}

static void max_pool2d_256(gr_context *ctx)
{
    gr_max_pool2d(real(ctx, 4, 1, 20, 20, 1), &(gr_max_pool2d_args){.size = {16, 16}});
}

static void max_pool2d_too_large(gr_context *ctx)
{
    gr_max_pool2d(images(ctx), &(gr_max_pool2d_args){.size = {6, 2}});
}

static void max_pool2d_empty_window(gr_context *ctx)
{
    gr_window window = {.padding = GR_EXPLICIT, .pad = {2, 0, 0, 0}};
    gr_max_pool2d(images(ctx), &(gr_max_pool2d_args){.size = {2, 2}, .window = window});
}

static void fused_channels(gr_context *ctx)
{
    gr_conv2d_relu_max_pool(images(ctx), real(ctx, 4, 4, 3, 3, 2), NULL,
                            &(gr_conv2d_relu_max_pool_args){.pool.size = {2, 2}});
}

static void fused_pool_too_large(gr_context *ctx)
{
    gr_conv2d_relu_max_pool(images(ctx), real(ctx, 4, 4, 3, 3, 3), NULL,
                            &(gr_conv2d_relu_max_pool_args){.pool.size = {4, 2}});
}

static void dense_images(gr_context *ctx)
{
    gr_dense(images(ctx), matrix(ctx, 90, 4), NULL, NULL);
}

static void dense_features(gr_context *ctx)
{
    gr_dense(matrix(ctx, 2, 7), matrix(ctx, 8, 4), NULL, NULL);
}

static void dense_bias(gr_context *ctx)
{
    gr_dense(matrix(ctx, 2, 7), matrix(ctx, 7, 4), vector(ctx, 7), NULL);
}

static void reshape_count(gr_context *ctx)
{
    gr_reshape(matrix(ctx, 3, 4), 1, (int64_t[]){11});
}

static void scale_factor(gr_context *ctx)
{
    gr_scale(vector(ctx, 3), (double)INFINITY);
}

static void l2_factor(gr_context *ctx)
{
    gr_l2_penalty(vector(ctx, 3), -0.5);
}

static void sum_type(gr_context *ctx)
{
    gr_sum(labels(ctx, 3));
}

static void avg_pool2d_no_size(gr_context *ctx)
{
    gr_avg_pool2d(images(ctx), &(gr_avg_pool2d_args){.size = {0, 2}});
}

static void avg_pool2d_matrix(gr_context *ctx)
{
    gr_avg_pool2d(matrix(ctx, 3, 4), &(gr_avg_pool2d_args){.size = {2, 2}});
}

static void avg_pool2d_empty_window(gr_context *ctx)
{
    gr_avg_pool2d(images(ctx),
                  &(gr_avg_pool2d_args){.size = {2, 2}, .window = {.padding = GR_EXPLICIT, .pad = {2, 0, 0, 0}}});
}

static void add_shapes(gr_context *ctx)
{
    gr_add(matrix(ctx, 3, 4), matrix(ctx, 4, 3), NULL);
}

static void global_avg_pool_matrix(gr_context *ctx)
{
    gr_global_avg_pool(matrix(ctx, 3, 4));
}

static void batch_norm_one_value(gr_context *ctx)
{
    gr_batch_norm(matrix(ctx, 1, 4), vector(ctx, 4), vector(ctx, 4), NULL, NULL, NULL, NULL);
}

static void batch_norm_gamma(gr_context *ctx)
{
    gr_batch_norm(matrix(ctx, 3, 4), vector(ctx, 3), vector(ctx, 4), NULL, NULL, NULL, NULL);
}

static void batch_norm_residual(gr_context *ctx)
{
    gr_batch_norm(matrix(ctx, 3, 4), vector(ctx, 4), vector(ctx, 4), matrix(ctx, 4, 3), NULL, NULL, NULL);
}

static void batch_norm_half_given(gr_context *ctx)
{
    gr_batch_norm(matrix(ctx, 3, 4), vector(ctx, 4), vector(ctx, 4), NULL, &(gr_statistics){.mean = vector(ctx, 4)},
                  NULL, NULL);
}

static void batch_norm_epsilon(gr_context *ctx)
{
    gr_batch_norm(matrix(ctx, 3, 4), vector(ctx, 4), vector(ctx, 4), NULL, NULL, &(gr_batch_norm_args){.epsilon = -1},
                  NULL);
}

static void track_values(gr_context *ctx)
{
    gr_statistics s = {vector(ctx, 4), vector(ctx, 4)};
    gr_batch_norm_track(&s, &s, &s, &(gr_batch_norm_track_args){.values = 1});
}

static void track_momentum(gr_context *ctx)
{
    gr_statistics s = {vector(ctx, 4), vector(ctx, 4)};
    gr_batch_norm_track(&s, &s, &s, &(gr_batch_norm_track_args){.values = 2, .momentum = 1.5});
}

static void track_count(gr_context *ctx)
{
    gr_statistics s = {vector(ctx, 4), vector(ctx, 4)}, five = {vector(ctx, 5), vector(ctx, 4)};
    gr_batch_norm_track(&s, &five, &s, &(gr_batch_norm_track_args){.values = 2});
}

static void commit_count(gr_context *ctx)
{
    gr_batch_norm_commit(vector(ctx, 4), vector(ctx, 5));
}

static void overflow_scaler(gr_context *ctx)
{
    gr_overflow(vector(ctx, 4), vector(ctx, 4));
}

static void unscale_scaler(gr_context *ctx)
{
    gr_unscale(vector(ctx, 4), vector(ctx, 4));
}

static void loss_scale_floor(gr_context *ctx)
{
    gr_loss_scale(vector(ctx, GR_SCALER_VALUES), &(gr_loss_scale_args){.floor = 8, .ceiling = 4});
}

static void flatten_scalar(gr_context *ctx)
{
    gr_flatten(real(ctx, 0, 0, 0, 0, 0));
}

static void cast_integers(gr_context *ctx)
{
    gr_cast(matrix(ctx, 3, 4), GR_I32);
}

static void dropout_everything(gr_context *ctx)
{
    gr_dropout(matrix(ctx, 3, 4), 1);
}

static void dropout_rate(gr_context *ctx)
{
    gr_dropout(matrix(ctx, 3, 4), (double)NAN);
}

static void cross_entropy_smoothing(gr_context *ctx)
{
    gr_smoothed_cross_entropy(matrix(ctx, 3, 4), labels(ctx, 3), NULL, 1);
}

static void cross_entropy_vector(gr_context *ctx)
{
    gr_softmax_cross_entropy(vector(ctx, 3), labels(ctx, 3), NULL);
}

static void cross_entropy_labels(gr_context *ctx)
{
    gr_softmax_cross_entropy(matrix(ctx, 3, 4), labels(ctx, 4), NULL);
}

static void cross_entropy_label_type(gr_context *ctx)
{
    gr_softmax_cross_entropy(matrix(ctx, 3, 4), vector(ctx, 3), NULL);
}

static void cross_entropy_weight(gr_context *ctx)
{
    gr_softmax_cross_entropy(matrix(ctx, 3, 4), labels(ctx, 3), vector(ctx, 2));
}

static void bce_two_logits(gr_context *ctx)
{
    gr_sigmoid_bce(matrix(ctx, 3, 2), labels(ctx, 3), NULL);
}

static void bce_labels(gr_context *ctx)
{
    gr_sigmoid_bce(matrix(ctx, 3, 1), labels(ctx, 2), NULL);
}

static void accuracy_labels(gr_context *ctx)
{
    gr_accuracy(matrix(ctx, 3, 4), labels(ctx, 2), NULL);
}

static void confusion_labels(gr_context *ctx)
{
    gr_confusion(matrix(ctx, 3, 4), labels(ctx, 2), NULL);
}

static void tally_loss(gr_context *ctx)
{
    gr_tally(matrix(ctx, 2, 2), vector(ctx, 2), vector(ctx, 1), NULL);
}

static void tally_total(gr_context *ctx)
{
    gr_tally(matrix(ctx, 3, 2), vector(ctx, 1), vector(ctx, 3), NULL);
}

static void gather_vector(gr_context *ctx)
{
    gr_gather(gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){2, 1, 1, 1}), gr_tensor_new(ctx, GR_I32, 2, (int64_t[]){1, 1}));
}

static void gather_pictures(gr_context *ctx)
{
    gr_gather(gr_tensor_new(ctx, GR_U8, 2, (int64_t[]){2, 2}), labels(ctx, 2));
}

static void normalise_channels(gr_context *ctx)
{
    gr_normalise(gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){1, 2, 2, 5}), NULL);
}

static void normalise_std(gr_context *ctx)
{
    gr_normalise(gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){1, 2, 2, 3}), &(gr_normalise_args){.std = {1, -1, 1, 1}});
}

static void normalise_type(gr_context *ctx)
{
    gr_normalise(images(ctx), NULL);
}

static gr_tensor *pictures(gr_context *ctx, int64_t n, int64_t height, int64_t channels)
{
    return gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){n, height, 2, channels});
}

static gr_tensor *maps(gr_context *ctx, int64_t n, int64_t numbers)
{
    return gr_tensor_new(ctx, GR_I32, 2, (int64_t[]){n, numbers});
}

static void augment_channels(gr_context *ctx)
{
    gr_augment(pictures(ctx, 2, 2, 5), maps(ctx, 2, GR_MAP), NULL);
}

static void augment_maps(gr_context *ctx)
{
    gr_augment(pictures(ctx, 2, 2, 3), maps(ctx, 1, GR_MAP), NULL);
}

static void augment_numbers(gr_context *ctx)
{
    gr_augment(pictures(ctx, 2, 2, 3), maps(ctx, 2, 6), NULL);
}

static void augment_side(gr_context *ctx)
{
    gr_augment(pictures(ctx, 1, 16385, 1), maps(ctx, 1, GR_MAP), NULL);
}

static void augment_size(gr_context *ctx)
{
    gr_augment(pictures(ctx, 1, 2, 1), maps(ctx, 1, GR_MAP), &(gr_augment_args){.size = {-1, 2}});
}

static void augment_filter(gr_context *ctx)
{
    gr_augment(pictures(ctx, 1, 2, 1), maps(ctx, 1, GR_MAP), &(gr_augment_args){.filter = (gr_resampling)4});
}

static void augment_std(gr_context *ctx)
{
    gr_augment(pictures(ctx, 1, 2, 1), maps(ctx, 1, GR_MAP), &(gr_augment_args){.normalise.std = {-1}});
}

static void sgd_count(gr_context *ctx)
{
    gr_sgd_step(vector(ctx, 8), vector(ctx, 7), NULL);
}

static void sgd_decay(gr_context *ctx)
{
    gr_sgd_step(vector(ctx, 8), vector(ctx, 8), &(gr_sgd_args){.weight_decay = -1});
}

static void momentum_one(gr_context *ctx)
{
    gr_momentum_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &(gr_momentum_args){.momentum = 1});
}

static void momentum_none(gr_context *ctx)
{
    gr_momentum_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), NULL);
}

static void momentum_count(gr_context *ctx)
{
    gr_momentum_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 9), &(gr_momentum_args){.momentum = 0.9});
}

static void momentum_decay(gr_context *ctx)
{
    gr_momentum_args args = {.momentum = 0.9, .weight_decay = (double)NAN};
    gr_momentum_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &args);
}

static void lars_momentum(gr_context *ctx)
{
    gr_lars_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &(gr_lars_args){.momentum = -0.5});
}

static void lars_trust(gr_context *ctx)
{
    gr_lars_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &(gr_lars_args){.trust = -1});
}

static void lars_count(gr_context *ctx)
{
    gr_lars_step(vector(ctx, 8), vector(ctx, 7), vector(ctx, 8), NULL);
}

static void prox_gamma(gr_context *ctx)
{
    gr_prox_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &(gr_prox_args){.gamma = -1});
}

static void prox_count(gr_context *ctx)
{
    gr_prox_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 9), NULL);
}

static void clip_limit(gr_context *ctx)
{
    gr_clip_norm(vector(ctx, 8), vector(ctx, 1), 0);
}

static void clip_two(gr_context *ctx)
{
    gr_clip_norm(vector(ctx, 8), vector(ctx, 2), 1);
}

static void sam_rho(gr_context *ctx)
{
    gr_sam_climb(vector(ctx, 8), vector(ctx, 8), vector(ctx, 1), vector(ctx, 8), (double)NAN);
}

static void sam_two(gr_context *ctx)
{
    gr_sam_climb(vector(ctx, 8), vector(ctx, 8), vector(ctx, 2), vector(ctx, 8), 0.05);
}

static void sam_count(gr_context *ctx)
{
    gr_sam_return(vector(ctx, 8), vector(ctx, 7));
}

static void adam_decay(gr_context *ctx)
{
    gr_adam_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &(gr_adam_args){.weight_decay = -2});
}

static void adam_count(gr_context *ctx)
{
    gr_adam_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), vector(ctx, 9), NULL);
}

static void adam_beta(gr_context *ctx)
{
    gr_adam_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), &(gr_adam_args){.beta1 = 1});
}

static void adam_epsilon(gr_context *ctx)
{
    gr_adam_step(vector(ctx, 8), vector(ctx, 8), vector(ctx, 8), vector(ctx, 8),
                 &(gr_adam_args){.epsilon = (double)NAN});
}

static void dense_sgd_shapes(gr_context *ctx)
{
    gr_dense_sgd(&(gr_dense_update){.x = matrix(ctx, 2, 7), .dy = matrix(ctx, 3, 4), .w = matrix(ctx, 7, 4)});
}

static void dense_sgd_db(gr_context *ctx)
{
    gr_dense_sgd(&(gr_dense_update){
        .x = matrix(ctx, 2, 7), .dy = matrix(ctx, 2, 4), .w = matrix(ctx, 7, 4), .db = vector(ctx, 7)});
}

static void dense_adam_moments(gr_context *ctx)
{
    gr_dense_update update = {.x = matrix(ctx, 2, 7), .dy = matrix(ctx, 2, 4), .w = matrix(ctx, 7, 4)};
    gr_dense_adam(&update, matrix(ctx, 7, 4), matrix(ctx, 7, 3), NULL);
}

/* relu_type, sigmoid_type, ...: of each GR_UNARY in ops.def. */
#define GR_OP(...)
#define GR_UNARY(name, ...)                  \
    static void name##_type(gr_context *ctx) \
    {                                        \
        gr_##name(labels(ctx, 3));           \
    }
#include "kernels/ops/ops.def"

static const struct {
    void (*call)(gr_context *ctx);
    const char *op, *words; /* what the message must contain */
} refusals[] = {
    {conv2d_flat_images, "conv2d", "[N,H,W,C]"},
    {conv2d_channels, "conv2d", "2 channels, the images 3"},
    {conv2d_bias, "conv2d", "each of the 4 filters"},
    {conv2d_too_large, "conv2d", "6 x 3 does not fit into an image of 5 x 6"},
    {conv2d_stride, "conv2d", "stride -1 x 1"},
    {conv2d_padding, "conv2d", "padding -1 is negative"},
    {conv2d_padding_kind, "conv2d", "padding kind 3"},
    {conv2d_type, "conv2d", "x has type u8"},
    {max_pool2d_matrix, "max_pool2d", "[N,H,W,C]"},
    {max_pool2d_no_size, "max_pool2d", "0 x 0"},
    {max_pool2d_256, "max_pool2d", "16 x 16; it must have 1 to 255"},
    {max_pool2d_too_large, "max_pool2d", "6 x 2 does not fit"},
    {max_pool2d_empty_window, "max_pool2d", "must be smaller than the window"},
    {fused_channels, "conv2d_relu_max_pool", "2 channels, the images 3"},
    {fused_pool_too_large, "conv2d_relu_max_pool", "4 x 2 does not fit into an image of 3 x 4"},
    {dense_images, "dense", "gr_flatten"},
    {dense_features, "dense", "7 features, the weights want 8"},
    {dense_bias, "dense", "each of the 4 outputs"},
    {reshape_count, "reshape", "x has 12 elements, the new shape 11"},
    {scale_factor, "scale", "factor inf"},
    {l2_factor, "l2_penalty", "factor -0.5"},
    {sum_type, "sum", "x has type i32"},
    {avg_pool2d_no_size, "avg_pool2d", "0 x 2"},
    {avg_pool2d_matrix, "avg_pool2d", "[N,H,W,C]"},
    {avg_pool2d_empty_window, "avg_pool2d", "must be smaller than the window"},
    {add_shapes, "add", "b must have the shape of a"},
    {global_avg_pool_matrix, "global_avg_pool", "[N,H,W,C]"},
    {batch_norm_one_value, "batch_norm", "one value per channel"},
    {batch_norm_gamma, "batch_norm", "gamma must have one element for each of the 4"},
    {batch_norm_residual, "batch_norm", "residual must have the shape of x"},
    {batch_norm_half_given, "batch_norm", "mean and var together"},
    {batch_norm_epsilon, "batch_norm", "epsilon -1"},
    {track_values, "batch_norm_track", "1 values per channel"},
    {track_momentum, "batch_norm_track", "momentum 1.5"},
    {track_count, "batch_norm_track", "mean has 5 elements, wanted are 4"},
    {commit_count, "batch_norm_commit", "next has 5 elements, wanted are 4"},
    {overflow_scaler, "overflow", "scaler has 4 elements, wanted are 5"},
    {unscale_scaler, "unscale", "scaler has 4 elements, wanted are 5"},
    {loss_scale_floor, "loss_scale", "floor 8, ceiling 4"},
#define GR_OP(...)
#define GR_UNARY(name, ...) {name##_type, #name, "x has type i32"},
#include "kernels/ops/ops.def"
    {flatten_scalar, "flatten", "no batch dimension"},
    {cast_integers, "cast", "to type i32; there are"},
    {dropout_everything, "dropout", "rate 1;"},
    {dropout_rate, "dropout", "rate nan"},
    {cross_entropy_smoothing, "softmax_cross_entropy", "smoothing 1;"},
    {cross_entropy_vector, "softmax_cross_entropy", "[N,classes]"},
    {cross_entropy_labels, "softmax_cross_entropy", "one label for each of the 3 rows"},
    {cross_entropy_label_type, "softmax_cross_entropy", "wanted is i32"},
    {cross_entropy_weight, "softmax_cross_entropy", "one weight for each of the 3 rows"},
    {bce_two_logits, "sigmoid_bce", "for 2 classes use gr_softmax_cross_entropy"},
    {bce_labels, "sigmoid_bce", "one label for each of the 3 rows"},
    {gather_vector, "gather", "index must be a vector"},
    {gather_pictures, "gather", "x must be pictures"},
    {accuracy_labels, "accuracy", "one label for each of the 3 rows"},
    {confusion_labels, "confusion", "one label for each of the 3 rows"},
    {tally_loss, "tally", "loss must have one element"},
    {tally_total, "tally", "total must be [4,2]"},
    {normalise_channels, "normalise", "at most 4 channels"},
    {normalise_std, "normalise", "std -1"},
    {normalise_type, "normalise", "wanted is u8"},
    {augment_channels, "augment", "at most 4 channels"},
    {augment_maps, "augment", "map must be [N,16], a row for each of the 2 images"},
    {augment_numbers, "augment", "map must be [N,16]"},
    {augment_side, "augment", "resize them first"},
    {augment_size, "augment", "a result of -1 x 2"},
    {augment_filter, "augment", "filter number 4"},
    {augment_std, "augment", "std -1"},
    {sgd_count, "sgd_step", "g has 7 elements, wanted are 8"},
    {sgd_decay, "sgd_step", "weight decay -1"},
    {momentum_one, "momentum_step", "momentum 1;"},
    {momentum_none, "momentum_step", "gr_sgd_step"},
    {momentum_count, "momentum_step", "v has 9 elements, wanted are 8"},
    {momentum_decay, "momentum_step", "weight decay nan"},
    {lars_momentum, "lars_step", "momentum -0.5"},
    {lars_trust, "lars_step", "trust -1"},
    {lars_count, "lars_step", "g has 7 elements, wanted are 8"},
    {prox_gamma, "prox_step", "gamma -1"},
    {prox_count, "prox_step", "anchor has 9 elements, wanted are 8"},
    {clip_limit, "clip_norm", "limit of 0"},
    {clip_two, "clip_norm", "norm has 2 elements; it is one number"},
    {sam_rho, "sam_climb", "rho nan"},
    {sam_two, "sam_climb", "norm has 2 elements"},
    {sam_count, "sam_return", "saved has 7 elements, wanted are 8"},
    {adam_decay, "adam_step", "weight decay -2"},
    {adam_count, "adam_step", "v has 9 elements, wanted are 8"},
    {adam_beta, "adam_step", "beta1 1"},
    {adam_epsilon, "adam_step", "epsilon nan"},
    {dense_sgd_shapes, "dense_sgd", "dy [N,4] with the same N"},
    {dense_sgd_db, "dense_sgd", "db must have one element for each of the 4"},
    {dense_adam_moments, "dense_adam", "moments must have as many elements as w"},
};

static int check(const char *device, size_t i)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    refusals[i].call(ctx);
    const char *text = gr_error_text(ctx), *op = refusals[i].op;
    bool named = !strncmp(text, op, strlen(op)) && strchr(" :", text[strlen(op)]);
    bool good = gr_error_code(ctx) == GR_USAGE && named && strstr(text, refusals[i].words);
    if (!good)
        printf("FAIL %s: refusal by %s with \"%s\": code %d, \"%s\"\n", device, op, refusals[i].words,
               (int)gr_error_code(ctx), text);
    gr_close(ctx);
    return !good;
}

int check_refusals(void)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        failures += check("ref", i) + check("cpu", i);
    return failures;
}
