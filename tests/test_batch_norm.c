/*
 * test_batch_norm.c - the layer: which statistics it uses when, and when those of the model change. Its numbers are the
 * operation table's business.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/safetensors.h"
#include "gradus.h"
#include "nn/module.h"

/* A normalisation of one channel, momentum 0.5, on ref: its numbers can be written down. */
static gr_module *one_channel(gr_context *ctx, gr_optimizer **sgd)
{
    gr_module *net = gr_sequential(ctx, gr_batch_norm_layer(ctx, &(gr_batch_norm_options){.momentum = 0.5}), NULL);
    assert_true(gr_module_build(net, 1, (int64_t[]){1}));
    *sgd = gr_sgd(ctx, net, NULL);
    return net;
}

static gr_tensor *column(gr_context *ctx, double a, double b)
{
    gr_tensor *x = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){2, 1});
    assert_true(gr_upload(x, (double[]){a, b}));
    return x;
}

/* One micro-batch: forward and backward. */
static void feed(gr_module *net, double a, double b)
{
    gr_tensor *labels = gr_tensor_new(net->ctx, GR_I32, 1, (int64_t[]){2});
    assert_true(gr_backward(gr_sigmoid_bce(gr_forward(net, column(net->ctx, a, b)), labels, NULL)));
}

static void assert_running(const gr_module *net, double mean, double var)
{
    const gr_parameters *list = net->parameters->statistics;
    double m, v;
    assert_string_equal(list->plans[0].name, "bn1.running_mean");
    assert_true(gr_download(*list->plans[0].place, &m) && gr_download(*list->plans[1].place, &v));
    if (fabs(m - mean) > 1e-12 || fabs(v - var) > 1e-12)
        fail_msg("running mean %g, variance %g; wanted are %g and %g", m, v, mean, var);
}

/* Mean 2, unbiased variance 2 of (1, 3); mean 7, variance 18 of (4, 10). */
static void the_step_commits_every_micro_batch(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_optimizer *sgd;
    gr_module *net = one_channel(ctx, &sgd);
    assert_running(net, 0, 1);
    feed(net, 1, 3);
    assert_running(net, 0, 1); /* not before the step */
    assert_true(gr_optimizer_step(sgd));
    gr_step_end(ctx);
    assert_running(net, 1, 1.5);
    feed(net, 1, 3);
    gr_step_end(ctx);
    feed(net, 4, 10);
    assert_true(gr_optimizer_step(sgd));
    gr_step_end(ctx);
    assert_running(net, (1.5 + 7) / 2, (1.75 + 18) / 2);
    assert_int_equal(gr_close(ctx), 0);
}

static void a_dry_run_moves_nothing(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_optimizer *sgd;
    gr_module *net = one_channel(ctx, &sgd);
    gr_plan_begin(ctx);
    feed(net, 1, 3);
    assert_true(gr_optimizer_step(sgd));
    assert_true(gr_plan_end(ctx) > 0);
    assert_running(net, 0, 1);
    feed(net, 1, 3);
    assert_true(gr_optimizer_step(sgd));
    assert_running(net, 1, 1.5);
    assert_int_equal(gr_close(ctx), 0);
}

/* Without a tape the answer to one sample does not depend on the others, and nothing moves. */
static void evaluation_uses_the_running_ones(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_optimizer *sgd;
    gr_module *net = one_channel(ctx, &sgd);
    double y[2];
    gr_record(ctx, false);
    assert_true(gr_download(gr_forward(net, column(ctx, 3, 100)), y));
    assert_true(fabs(y[0] - 3 / sqrt(1 + 1e-5)) < 1e-12);
    gr_step_end(ctx);
    gr_record(ctx, true);
    feed(net, 1, 3);
    assert_true(gr_optimizer_step(sgd));
    assert_running(net, 1, 1.5);
    assert_int_equal(gr_close(ctx), 0);
}

/* Statistics are part of a file of weights; PyTorch's counters are passed over. */
static void files_hold_statistics(void **state)
{
    (void)state;
    char path[] = "/tmp/gradus-statistics-XXXXXX";
    close(mkstemp(path));
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_optimizer *sgd;
    gr_module *net = one_channel(ctx, &sgd), *other = one_channel(ctx, &sgd);
    int64_t seen = 3;
    float values[4] = {1, 2, 3, 4};
    const char *const names[] = {"bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"};
    gr_saved_tensor saved[5] = {{.name = "bn1.num_batches_tracked", .type = GR_I64, .data = &seen}};
    for (int i = 0; i < 4; i++) {
        saved[i + 1] = (gr_saved_tensor){.type = GR_F32, .ndim = 1, .shape = {1}, .data = &values[i]};
        strcpy(saved[i + 1].name, names[i]);
    }
    assert_true(gr__safetensors_write(ctx, path, 5, saved));
    assert_true(gr_load_weights(net, path));
    assert_running(net, 3, 4);
    assert_true(gr_save_weights(net, path));
    assert_true(gr_load_weights(other, path));
    assert_running(other, 3, 4);
    assert_true(gr__safetensors_write(ctx, path, 3, saved + 1)); /* running_var is missing */
    assert_false(gr_load_weights(net, path));
    assert_non_null(strstr(gr_error_text(ctx), "bn1.running_var"));
    gr_close(ctx);
    unlink(path);
}

/* A channel that is the same everywhere is 0 afterwards, however far from 0 it was. */
static void constant_channels(void **state)
{
    (void)state;
    enum { N = 32 * 28 * 28, C = 19 };
    static const char *const devices[] = {"ref", "cpu"};
    float *x = malloc(sizeof(float) * N * C), *y = malloc(sizeof(float) * N * C);
    for (int64_t i = 0; i < (int64_t)N * C; i++)
        x[i] = 100.1f + (float)(i % C);
    for (int d = 0; d < 2; d++) {
        gr_context *ctx = gr_open(&(gr_options){.device = devices[d], .precision = GR_PRECISION_FP32});
        gr_module *net = gr_sequential(ctx, gr_batch_norm_layer(ctx, NULL), NULL);
        gr_tensor *in = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){32, 28, 28, C});
        assert_true(gr_upload(in, x) && gr_download(gr_forward(net, in), y));
        for (int64_t i = 0; i < (int64_t)N * C; i++)
            assert_true(fabsf(y[i]) < 1e-2f);
        assert_int_equal(gr_close(ctx), 0);
    }
    free(x);
    free(y);
}

static void bad_blocks_are_refused(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    assert_null(gr_batch_norm_layer(ctx, &(gr_batch_norm_options){.momentum = 2}));
    assert_non_null(strstr(gr_error_text(ctx), "momentum 2"));
    gr_clear_error(ctx);
    assert_null(gr_named(gr_relu_layer(ctx), "a.b"));
    assert_non_null(strstr(gr_error_text(ctx), "no dot"));
    gr_clear_error(ctx);
    assert_null(gr_residual(ctx, gr_relu_layer(ctx), NULL));
    assert_non_null(strstr(gr_error_text(ctx), "sequential"));
    gr_clear_error(ctx);
    gr_module *body = gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 1}), NULL);
    gr_module *net = gr_sequential(ctx, gr_residual(ctx, body, NULL), NULL);
    assert_false(gr_module_build(net, 3, (int64_t[]){5, 6, 3}));
    assert_non_null(strstr(gr_error_text(ctx), "block1: the body gives [5,6,4], the shortcut [5,6,3]"));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_commits_every_micro_batch),
        cmocka_unit_test(a_dry_run_moves_nothing),
        cmocka_unit_test(evaluation_uses_the_running_ones),
        cmocka_unit_test(files_hold_statistics),
        cmocka_unit_test(constant_channels),
        cmocka_unit_test(bad_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
