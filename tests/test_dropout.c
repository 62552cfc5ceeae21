/*
 * test_dropout.c - when the layer drops, and which draws differ. The numbers of one draw are the operation table's
 * business.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "gradus.h"

enum { COUNT = 4096 };

static gr_context *opened(uint64_t seed)
{
    return gr_open(&(gr_options){.device = "cpu", .seed = seed});
}

static gr_tensor *filled(gr_tensor *x)
{
    float values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = 1;
    assert_true(gr_upload(x, values));
    return x;
}

static gr_tensor *ones(gr_context *ctx)
{
    return filled(gr_variable(ctx, 2, (int64_t[]){64, COUNT / 64}));
}

/* Backward from y with a gradient of ones. */
static bool backward(gr_context *ctx, gr_tensor *y)
{
    return gr_backward_from(y, filled(gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){64, COUNT / 64})));
}

static int zeros(const float *values)
{
    int n = 0;
    for (int i = 0; i < COUNT; i++)
        n += values[i] == 0;
    return n;
}

/* y and dX of a micro-batch. */
static void run(gr_context *ctx, gr_tensor *x, float *y, float *dx)
{
    gr_tensor *out = gr_dropout(x, 0.25);
    assert_true(gr_download(out, y));
    gr_clear_gradients(ctx);
    assert_true(backward(ctx, out));
    assert_true(gr_download(gr_grad(x), dx));
    gr_step_end(ctx);
}

static void backward_drops_what_forward_dropped(void **state)
{
    (void)state;
    gr_context *ctx = opened(1);
    float y[COUNT], dx[COUNT];
    run(ctx, ones(ctx), y, dx);
    assert_memory_equal(y, dx, sizeof y);
    assert_in_range(zeros(y), COUNT / 4 - 140, COUNT / 4 + 140); /* five standard deviations */
    for (int i = 0; i < COUNT; i++)
        assert_true(y[i] == 0 || y[i] == 1 / 0.75f);
    assert_int_equal(gr_close(ctx), GR_OK);
}

static void every_micro_batch_draws_anew_and_a_second_run_the_same(void **state)
{
    (void)state;
    float y[3][COUNT], again[COUNT], other[COUNT], dx[COUNT];
    gr_context *ctx = opened(1), *second = opened(1), *another = opened(2);
    gr_tensor *x = ones(ctx), *x2 = ones(second);
    for (int i = 0; i < 3; i++) {
        run(ctx, x, y[i], dx);
        assert_memory_equal(y[i], dx, sizeof dx);
        run(second, x2, again, dx);
        assert_memory_equal(y[i], again, sizeof again);
    }
    run(another, ones(another), other, dx);
    assert_memory_not_equal(y[0], y[1], sizeof dx);
    assert_memory_not_equal(y[1], y[2], sizeof dx);
    assert_memory_not_equal(y[0], other, sizeof dx);
    gr_close(ctx), gr_close(second), gr_close(another);
}

static void every_call_draws_anew(void **state)
{
    (void)state;
    gr_context *ctx = opened(1);
    float y[4][COUNT];
    gr_tensor *x = ones(ctx);
    assert_true(gr_download(gr_dropout(x, 0.5), y[0]) && gr_download(gr_dropout(x, 0.5), y[1]));
    gr_step_end(ctx);
    gr_record(ctx, false); /* dropout asked for by hand: no tape tells where a micro-batch ends */
    assert_true(gr_download(gr_dropout(x, 0.5), y[2]));
    gr_step_end(ctx);
    assert_true(gr_download(gr_dropout(x, 0.5), y[3]));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(y[i], y[j], sizeof y[0]);
    gr_close(ctx);
}

static void a_dry_run_draws_nothing(void **state)
{
    (void)state;
    float y[COUNT], planned[COUNT], dx[COUNT];
    gr_context *ctx = opened(1), *second = opened(1);
    run(ctx, ones(ctx), y, dx);
    gr_tensor *x = ones(second);
    gr_plan_begin(second);
    assert_true(backward(second, gr_dropout(x, 0.25)));
    gr_step_end(second);
    gr_plan_end(second);
    gr_clear_gradients(second);
    run(second, x, planned, dx);
    assert_memory_equal(y, planned, sizeof y);
    gr_close(ctx), gr_close(second);
}

static void the_layer_drops_in_training_only(void **state)
{
    (void)state;
    gr_context *ctx = opened(1);
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = COUNT / 64}),
                                   gr_dropout_layer(ctx, 0.5), NULL);
    assert_true(gr_module_build(net, 1, (int64_t[]){COUNT / 64}));
    gr_tensor *x = ones(ctx);
    float y[COUNT];
    assert_true(gr_download(gr_forward(net, x), y));
    assert_true(zeros(y) > COUNT / 3);
    gr_record(ctx, false);
    assert_true(gr_download(gr_forward(net, x), y));
    assert_int_equal(zeros(y), 0);
    gr_close(ctx);
}

static void a_rate_of_one_is_refused(void **state)
{
    (void)state;
    gr_context *ctx = opened(1);
    assert_null(gr_dropout_layer(ctx, 1));
    assert_non_null(strstr(gr_error_text(ctx), "a rate of 1;"));
    assert_int_equal(gr_close(ctx), GR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_drops_what_forward_dropped),
        cmocka_unit_test(every_micro_batch_draws_anew_and_a_second_run_the_same),
        cmocka_unit_test(every_call_draws_anew),
        cmocka_unit_test(a_dry_run_draws_nothing),
        cmocka_unit_test(the_layer_drops_in_training_only),
        cmocka_unit_test(a_rate_of_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
