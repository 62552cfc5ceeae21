/*
 * test_two_models.c - two models and two optimizers in one context: nothing of one reaches the other. What they learn
 * has the bits of two contexts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "gradus.h"

enum { ROWS = 12, FEATURES = 5, UPDATES = 6, MOST = 4096 };

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    gr_tensor *x, *y;
} learner;

static gr_context *open_as(const char *device, gr_precision precision)
{
    return gr_open(&(gr_options){.device = device, .seed = 5, .precision = precision, .threads = 1});
}

/* Learner 0 is under Adam, learner 1 has batch normalisation and momentum. */
static learner learner_in(gr_context *ctx, int which)
{
    learner l = {.ctx = ctx};
    gr_dense_options hidden = {.units = which ? 9 : 7}, out = {.units = 3};
    l.net = which
                ? gr_sequential(ctx, gr_dense_layer(ctx, &hidden), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                                gr_dense_layer(ctx, &out), NULL)
                : gr_sequential(ctx, gr_dense_layer(ctx, &hidden), gr_tanh_layer(ctx), gr_dense_layer(ctx, &out), NULL);
    l.opt = which ? gr_sgd(ctx, l.net, &(gr_sgd_options){.lr = 0.1, .momentum = 0.9})
                  : gr_adam(ctx, l.net, &(gr_adam_options){.lr = 0.01});
    l.x = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){ROWS, FEATURES});
    l.y = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){ROWS});
    float x[ROWS * FEATURES];
    int32_t y[ROWS];
    for (int i = 0; i < ROWS * FEATURES; i++)
        x[i] = (float)sin(1.7 * i + which);
    for (int i = 0; i < ROWS; i++)
        y[i] = (i + which) % 3;
    assert_true(gr_upload(l.x, x) && gr_upload(l.y, y));
    return l;
}

static gr_tensor *loss_of(const learner *l)
{
    return gr_softmax_cross_entropy(gr_forward(l->net, l->x), l->y, NULL);
}

static void update(const learner *l, bool fused)
{
    gr_tensor *loss = loss_of(l);
    assert_true(fused ? gr_minimize(l->opt, loss) : gr_backward(loss) && gr_optimizer_step(l->opt));
    gr_step_end(l->ctx);
}

/* All of a model's weights, and its answer without a tape, which shows running statistics. */
static size_t state_of(const learner *l, float *values)
{
    size_t n = 0;
    for (int i = 0; i < gr_parameter_count(l->net); i++) {
        gr_tensor *t = gr_parameter(l->net, i);
        assert_true(n + (size_t)gr_count(t) + ROWS * 3 <= MOST && gr_download(t, values + n));
        n += (size_t)gr_count(t);
    }
    gr_record(l->ctx, false);
    gr_tensor *z = gr_cast(gr_forward(l->net, l->x), GR_F32);
    assert_true(gr_download(z, values + n));
    gr_record(l->ctx, true);
    gr_step_end(l->ctx);
    return n + ROWS * 3;
}

/* Learner 1 makes two updates for each of learner 0's. */
static void learn(learner *const l[2], bool fused)
{
    for (int u = 0; u < UPDATES; u++)
        for (int k = 0; k < 3; k++)
            if (l[k > 0])
                update(l[k > 0], fused);
}

static void same_as_alone(const char *device, gr_precision precision, bool fused)
{
    static float alone[2][MOST], together[2][MOST];
    size_t n[2];
    for (int which = 0; which < 2; which++) {
        gr_context *ctx = open_as(device, precision);
        learner one = learner_in(ctx, which);
        learn((learner *[2]){which ? NULL : &one, which ? &one : NULL}, fused);
        n[which] = state_of(&one, alone[which]);
        assert_int_equal(gr_close(ctx), 0);
    }
    gr_context *ctx = open_as(device, precision);
    learner both[2] = {learner_in(ctx, 0), learner_in(ctx, 1)};
    learn((learner *[2]){&both[0], &both[1]}, fused);
    for (int which = 0; which < 2; which++) {
        assert_int_equal(state_of(&both[which], together[which]), n[which]);
        assert_memory_equal(alone[which], together[which], n[which] * sizeof(float));
    }
    assert_int_equal(gr_close(ctx), 0);
}

static void two_in_one_context(void **state)
{
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        same_as_alone("cpu", GR_PRECISION_FP32, fused);
        same_as_alone("cpu", GR_PRECISION_BF16, fused);
        same_as_alone("cpu", GR_PRECISION_FP16, fused); /* neither overflows: the scale stays where both begin */
        same_as_alone("ref", GR_PRECISION_FP32, fused);
    }
}

/* Both backward passes, then both steps: the first step leaves the other's gradients where they are. */
static void gradients_of_another_model_stay(void **state)
{
    (void)state;
    gr_context *ctx = open_as("ref", GR_PRECISION_FP32);
    learner a = learner_in(ctx, 0), b = learner_in(ctx, 1);
    gr_tensor *v = gr_variable(ctx, 1, (int64_t[]){1});
    assert_true(gr_upload(v, &(float){3}));
    assert_true(gr_backward(loss_of(&a)) && gr_backward(loss_of(&b)) && gr_backward(gr_l2_penalty(v, 1)));
    assert_true(gr_optimizer_step(a.opt));
    assert_null(gr_grad(gr_parameter(a.net, 0)));
    assert_non_null(gr_grad(gr_parameter(b.net, 0)));
    assert_float_equal(gr_item(gr_grad(v)), 6, 0);
    assert_true(gr_optimizer_step(b.opt));
    assert_null(gr_grad(gr_parameter(b.net, 0)));
    gr_clear_gradients(ctx);
    assert_null(gr_grad(v));
    assert_int_equal(gr_close(ctx), 0);
}

/* An update of one that overflows: Adam's correction of the other must not count it as skipped. */
static void skips_are_counted_apart(void **state)
{
    (void)state;
    static float calm[2][MOST];
    size_t n = 0;
    for (int disturbed = 0; disturbed < 2; disturbed++) {
        gr_context *ctx = open_as("cpu", GR_PRECISION_FP16);
        learner a = learner_in(ctx, 0), b = learner_in(ctx, 1);
        const float huge[ROWS * FEATURES] = {[0] = 65504, [7] = -65504};
        update(&a, false);
        update(&b, false);
        if (disturbed) {
            assert_true(gr_upload(b.x, huge) && gr_set_loss_scale(ctx, 0x1p24));
            update(&b, false);
            assert_int_equal(gr_loss_scaling(ctx).skipped, 1);
        }
        assert_true(gr_set_loss_scale(ctx, 1024));
        for (int u = 0; u < 3; u++)
            update(&a, false);
        assert_int_equal(gr_loss_scaling(ctx).skipped, disturbed);
        n = state_of(&a, calm[disturbed]);
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_memory_equal(calm[0], calm[1], n * sizeof(float));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_in_one_context),
        cmocka_unit_test(gradients_of_another_model_stay),
        cmocka_unit_test(skips_are_counted_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
