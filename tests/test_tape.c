/* test_tape.c - the engine: gradients that meet, buffers that come back, steps that repeat, errors that stick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "gradus.h"

static gr_context *open_ref(void)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 3});
    assert_true(gr_ok(ctx));
    return ctx;
}

static gr_tensor *variable(gr_context *ctx, int ndim, const int64_t *shape, const double *values)
{
    gr_tensor *t = gr_variable(ctx, ndim, shape);
    assert_true(gr_upload(t, values));
    return t;
}

/* The sum of one row of features, as a loss: a dense layer of ones. */
static gr_tensor *total(gr_context *ctx, gr_tensor *row)
{
    double ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    gr_tensor *w = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){gr_count(row), 1});
    assert_true(gr_upload(w, ones));
    return gr_dense(row, w, NULL, NULL);
}

static void gradient_is(gr_tensor *t, const double *expected)
{
    double g[64];
    assert_non_null(gr_grad(t));
    assert_true(gr_download(gr_grad(t), g));
    for (int64_t i = 0; i < gr_count(t); i++)
        if (fabs(g[i] - expected[i]) > 1e-12)
            fail_msg("gradient %lld is %.17g, expected %.17g", (long long)i, g[i], expected[i]);
}

/* y = x w with x = relu(v): v is reached once; then the same x goes into a second dense: the gradients add. */
static void a_tensor_used_twice(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *v = variable(ctx, 2, (int64_t[]){1, 2}, (double[]){2, 5});
    gr_tensor *w = variable(ctx, 2, (int64_t[]){2, 2}, (double[]){1, 2, 3, 4});
    gr_tensor *x = gr_relu(v);
    gr_tensor *y = gr_dense(gr_dense(x, w, NULL, NULL), w, NULL, NULL); /* w twice, x once: y = x w w */
    gr_tensor *loss = total(ctx, y);
    assert_true(gr_backward(loss));
    /* d/dx of 1' (w' w' x): w (w 1); d/dw: x (w 1)' + (x w)' 1' */
    gradient_is(v, (double[]){17, 37});
    gradient_is(w, (double[]){2 * 3 + 17, 2 * 7 + 17, 5 * 3 + 24, 5 * 7 + 24});
    assert_int_equal(gr_close(ctx), 0);
}

/* A weight that is also the input of the same call: two slots, one tensor. */
static void one_tensor_in_two_slots(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *a = variable(ctx, 2, (int64_t[]){1, 1}, (double[]){3});
    gr_tensor *loss = gr_dense(a, a, NULL, NULL); /* a^2 */
    assert_true(gr_backward(loss));
    gradient_is(a, (double[]){6});
    assert_int_equal(gr_close(ctx), 0);
}

static void gradients_accumulate_until_cleared(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *a = variable(ctx, 2, (int64_t[]){1, 2}, (double[]){3, -1});
    for (int i = 1; i <= 3; i++) {
        assert_true(gr_backward(total(ctx, gr_relu(a))));
        gradient_is(a, (double[]){i, 0});
        gr_step_end(ctx);
    }
    gr_clear_gradients(ctx);
    assert_null(gr_grad(a));
    assert_true(gr_backward(total(ctx, gr_relu(a))));
    gradient_is(a, (double[]){1, 0});
    assert_int_equal(gr_close(ctx), 0);
}

/* flatten shares storage; its gradient is handed through, also when its input is used beside it. */
static void flatten_hands_through(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *v = variable(ctx, 4, (int64_t[]){1, 1, 2, 2}, (double[]){1, 2, 3, -4});
    gr_tensor *x = gr_relu(v);
    gr_tensor *flat = gr_flatten(x);
    assert_ptr_equal(flat->data, x->data);
    assert_true(gr_backward(total(ctx, flat)));
    gradient_is(v, (double[]){1, 1, 1, 0});
    gr_step_end(ctx);
    gr_clear_gradients(ctx);
    assert_true(gr_backward(total(ctx, gr_flatten(v)))); /* of a leaf: copied, the leaf's gradient is its own */
    gradient_is(v, (double[]){1, 1, 1, 1});
    assert_int_equal(gr_close(ctx), 0);
}

static void backward_wants_a_loss(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *v = variable(ctx, 2, (int64_t[]){1, 2}, (double[]){1, 2});
    assert_false(gr_backward(gr_relu(v)));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    gr_tensor *loss = total(ctx, gr_relu(v));
    assert_true(gr_backward(loss));
    assert_false(gr_backward(loss)); /* its tape is gone */
    assert_non_null(strstr(gr_error_text(ctx), "nothing to differentiate"));
    gr_clear_error(ctx);
    gr_record(ctx, false);
    loss = total(ctx, gr_relu(v));
    gr_record(ctx, true);
    assert_false(gr_backward(loss));
    gr_close(ctx);
}

/* dy from outside: as many gradients as a loss whose gradient it is; dy keeps its values, y stays readable. */
static void backward_from_any_tensor(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *v = variable(ctx, 2, (int64_t[]){1, 3}, (double[]){2, -3, 5});
    gr_tensor *dy = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){1, 3});
    double weights[3] = {7, 11, 13}, kept[3], y[3];
    gr_upload(dy, weights);
    for (int times = 1; times <= 2; times++) {
        gr_tensor *result = gr_flatten(gr_relu(v));
        assert_true(gr_backward_from(result, dy));
        gradient_is(v, (double[]){7.0 * times, 0, 13.0 * times}); /* gradients accumulate */
        assert_true(gr_download(dy, kept) && gr_download(result, y));
        assert_memory_equal(kept, weights, sizeof kept);
        gr_step_end(ctx);
    }
    gr_clear_gradients(ctx);
    gr_tensor *result = gr_relu(v);
    gr_record(ctx, false);
    gr_tensor *computed = gr_relu(dy); /* a gradient that lives for the step */
    gr_record(ctx, true);
    assert_true(gr_backward_from(result, computed));
    gradient_is(v, (double[]){7, 0, 13});
    gr_close(ctx);
}

static void backward_from_wants_a_gradient_that_fits(void **state)
{
    (void)state;
    gr_context *ctx = open_ref(), *other = open_ref();
    gr_tensor *v = variable(ctx, 2, (int64_t[]){1, 4}, (double[]){1, 2, 3, 4});
    gr_tensor *bad[] = {gr_tensor_new(ctx, GR_F64, 1, (int64_t[]){4}), gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){2, 2}),
                        gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){1, 4}),
                        gr_tensor_new(other, GR_F64, 2, (int64_t[]){1, 4})};
    for (int i = 0; i < 4; i++) {
        assert_false(gr_backward_from(gr_relu(v), bad[i]));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "type and shape"));
        gr_clear_error(ctx);
    }
    gr_tensor *fits = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){1, 4});
    assert_false(gr_backward_from(fits, fits)); /* nothing made it */
    assert_non_null(strstr(gr_error_text(ctx), "nothing to differentiate"));
    gr_clear_error(ctx);
    assert_false(gr_backward_from(NULL, fits) || gr_backward_from(fits, NULL));
    assert_true(gr_ok(ctx));
    gr_close(other);
    gr_close(ctx);
}

static void released_storage_is_refused(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *v = variable(ctx, 2, (int64_t[]){1, 2}, (double[]){1, 2});
    gr_tensor *hidden = gr_relu(v), *loss = total(ctx, hidden);
    assert_true(gr_backward(loss));
    assert_true(isfinite(gr_item(loss)));
    assert_null(gr_relu(hidden));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "given back"));
    gr_close(ctx);
}

/* One update of a small network; returns where its answer lay. */
static void *one_step(gr_context *ctx, gr_module *net, gr_optimizer *opt, gr_tensor *x, gr_tensor *labels)
{
    gr_tensor *z = gr_forward(net, x);
    void *place = z ? z->data : NULL;
    gr_minimize(opt, gr_sigmoid_bce(z, labels, NULL));
    gr_step_end(ctx);
    return place;
}

static gr_module *small_net(gr_context *ctx)
{
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3}), gr_relu_layer(ctx),
                         gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 5}), gr_relu_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* After a plan, steps allocate nothing and addresses repeat; without one, from the second step on. */
static void steps_repeat_their_addresses(void **state)
{
    (void)state;
    for (int planned = 0; planned < 2; planned++) {
        gr_context *ctx = gr_open(NULL);
        gr_module *net = small_net(ctx);
        gr_optimizer *opt = gr_sgd(ctx, net, NULL);
        gr_tensor *x = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){3, 10, 10, 3});
        gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){3});
        int64_t peak = 0;
        if (planned) {
            gr_plan_begin(ctx);
            one_step(ctx, net, opt, x, labels);
            peak = gr_plan_end(ctx);
            assert_true(peak > 0);
        }
        one_step(ctx, net, opt, x, labels);
        int64_t held = ctx->persistent + ctx->step_bytes;
        void *place = one_step(ctx, net, opt, x, labels);
        assert_true(gr_ok(ctx));
        if (planned)
            assert_int_equal(ctx->step_bytes, peak);
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(one_step(ctx, net, opt, x, labels), place);
        assert_int_equal(ctx->persistent + ctx->step_bytes, held);
        assert_int_equal(gr__arena_chunks(ctx->arena), 1);
        assert_int_equal(gr_close(ctx), 0);
    }
}

static void plan_only_counts_the_same(void **state)
{
    (void)state;
    int64_t peak[2], persistent[2];
    for (int dry = 0; dry < 2; dry++) {
        gr_context *ctx = gr_open(&(gr_options){.plan_only = dry});
        gr_module *net = small_net(ctx);
        gr_optimizer *opt = gr_adam(ctx, net, NULL);
        gr_tensor *x = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){3, 10, 10, 3});
        gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){3});
        gr_plan_begin(ctx);
        one_step(ctx, net, opt, x, labels);
        assert_true(gr_plan_end(ctx) > 0);
        if (!dry)
            one_step(ctx, net, opt, x, labels);
        assert_true(gr_ok(ctx));
        peak[dry] = gr_memory_use(ctx).peak;
        persistent[dry] = gr_memory_use(ctx).persistent;
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_int_equal(peak[0], peak[1]);
    assert_int_equal(persistent[0], persistent[1]);
}

/* Plans one update under a limit; the context stays open for the caller. */
static gr_context *plan_under(int64_t limit, gr_module **net)
{
    gr_context *ctx = gr_open(&(gr_options){.memory_limit = limit});
    *net = small_net(ctx);
    gr_optimizer *opt = gr_sgd(ctx, *net, NULL);
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){3, 10, 10, 3});
    gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){3});
    gr_plan_begin(ctx);
    one_step(ctx, *net, opt, x, labels);
    gr_plan_end(ctx);
    return ctx;
}

/* The smallest limit that works is the planned peak; one byte less is refused by name, and the context can go on. */
static void memory_limit_is_exact(void **state)
{
    (void)state;
    gr_module *net;
    gr_context *ctx = plan_under(0, &net);
    int64_t peak = gr_memory_use(ctx).peak;
    assert_int_equal(gr_close(ctx), 0);
    ctx = plan_under(peak, &net);
    assert_int_equal(gr_memory_use(ctx).peak, peak);
    assert_int_equal(gr_close(ctx), 0);
    ctx = plan_under(peak - 1, &net);
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    assert_non_null(strstr(gr_error_text(ctx), "memory limit"));
    gr_clear_error(ctx);
    gr_tensor *less = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){1, 10, 10, 3});
    gr_plan_begin(ctx);
    gr_forward(net, less);
    assert_true(gr_plan_end(ctx) > 0);
    assert_non_null(gr_forward(net, less));
    assert_int_equal(gr_close(ctx), 0);
}

static void errors_stick(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    assert_null(gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){0}));
    char first[256];
    snprintf(first, sizeof first, "%s", gr_error_text(ctx));
    gr_tensor *t = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){4});
    assert_null(t);
    assert_null(gr_relu(t));
    assert_false(gr_backward(NULL));
    assert_true(isnan(gr_item(NULL)));
    assert_int_equal(gr_dim(NULL, 0), 0);
    gr_step_end(ctx);
    assert_string_equal(gr_error_text(ctx), first);
    gr_clear_error(ctx);
    assert_non_null(gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){4}));
    assert_int_equal(gr_close(ctx), 0);
    assert_int_equal(gr_close(NULL), GR_NO_MEMORY);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    int64_t huge = (int64_t)1 << 40;
    assert_null(gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){huge, huge}));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    assert_null(gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){(int64_t)1 << 55})); /* countable, but nobody has it */
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    gr_close(ctx);
}

static void unknown_devices_are_named(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "abacus"});
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "abacus"));
    assert_null(gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){1}));
    gr_clear_error(ctx); /* no device will come of it */
    assert_false(gr_ok(ctx));
    assert_int_equal(gr_close(ctx), GR_USAGE);
    ctx = gr_open(&(gr_options){.device = "cpu", .precision = GR_PRECISION_FP64});
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_used_twice),
        cmocka_unit_test(one_tensor_in_two_slots),
        cmocka_unit_test(gradients_accumulate_until_cleared),
        cmocka_unit_test(flatten_hands_through),
        cmocka_unit_test(backward_wants_a_loss),
        cmocka_unit_test(backward_from_any_tensor),
        cmocka_unit_test(backward_from_wants_a_gradient_that_fits),
        cmocka_unit_test(released_storage_is_refused),
        cmocka_unit_test(steps_repeat_their_addresses),
        cmocka_unit_test(plan_only_counts_the_same),
        cmocka_unit_test(memory_limit_is_exact),
        cmocka_unit_test(errors_stick),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(unknown_devices_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
