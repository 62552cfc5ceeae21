/*
 * test_misuse.c - programs that are wrong: each mistake gets a message that names it, nothing crashes, nothing is
 * guessed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "gradus.h"

static gr_context *open_as(const char *device, gr_precision precision)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device, .seed = 3, .precision = precision});
    assert_non_null(ctx);
    return ctx;
}

/* The context has a usage error that says all of this. Forgets it. */
static void says(gr_context *ctx, const char *word, const char *other)
{
    if (gr_error_code(ctx) != GR_USAGE || !strstr(gr_error_text(ctx), word) || !strstr(gr_error_text(ctx), other))
        fail_msg("code %d, \"%s\" does not say \"%s\" and \"%s\"", gr_error_code(ctx), gr_error_text(ctx), word, other);
    gr_clear_error(ctx);
    assert_true(gr_ok(ctx));
}

/* A type of tensors is no precision, on any device, and the other way round. */
static void precisions_are_no_types(void **state)
{
    (void)state;
    for (int type = GR_F32; type < GR_TYPE_COUNT; type++) {
        gr_context *ctx = open_as(type % 2 ? "cpu" : "ref", (gr_precision)type);
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "GR_PRECISION_BF16"));
        gr_close(ctx);
    }
    gr_context *ctx = open_as("cpu", GR_PRECISION_BF16);
    assert_string_equal(gr_precision_name(ctx), "bf16");
    assert_null(gr_tensor_new(ctx, (gr_type)GR_PRECISION_FP16, 0, NULL));
    says(ctx, "type number", "GR_F16");
    gr_close(ctx);
}

/* What counts is never below 0. */
static void options_out_of_range(void **state)
{
    (void)state;
    const struct {
        gr_options options;
        const char *said;
    } wrong[] = {{{.threads = -1}, "threads must be"}, {{.memory_limit = -1}, "memory_limit must be"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gr_context *ctx = gr_open(&wrong[i].options);
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), wrong[i].said));
        gr_close(ctx);
    }
}

/* One step's loss. */
static gr_tensor *some_loss(gr_tensor *v)
{
    return gr_l2_penalty(gr_relu(v), 1);
}

/* Every function that takes a tensor refuses one whose step is over; also long after, when others have been made. */
static void tensors_of_a_step_that_is_over(void **state)
{
    (void)state;
    gr_context *ctx = open_as("cpu", 0);
    gr_tensor *v = gr_variable(ctx, 1, (int64_t[]){4}), *dy = gr_tensor_new(ctx, GR_F32, 0, NULL);
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
    gr_tensor *gone = some_loss(v);
    assert_true(isfinite(gr_item(gone)));
    gr_step_end(ctx); /* the program's first: the storage of the step itself has moved */
    float value;
    for (int later = 0; later < 3; later++) {
        assert_true(isnan(gr_item(gone)));
        says(ctx, "gr_item", "gr_step_end");
        assert_false(gr_download(gone, &value));
        says(ctx, "gr_download", "gone");
        assert_false(gr_upload(gone, &value));
        says(ctx, "gr_upload", "gone");
        assert_int_equal(gr_count(gone) + gr_dim(gone, 0) + gr_ndim(gone), 0);
        says(ctx, "gr_", "gone");
        gr_type_of(gone);
        says(ctx, "gr_type_of", "gone");
        assert_null(gr_grad(gone));
        says(ctx, "gr_grad", "gone");
        assert_false(gr_backward(gone));
        says(ctx, "gr_backward", "gone");
        assert_false(gr_backward_from(gone, dy) || gr_backward_from(some_loss(v), gone));
        says(ctx, "gr_backward_from", "gone");
        assert_null(gr_relu(gone));
        says(ctx, "relu", "gone");
        assert_null(gr_add(v, gone, NULL));
        says(ctx, "add", "gone");
        assert_null(gr_reshape(gone, 0, NULL));
        says(ctx, "reshape", "gone");
        assert_null(gr_forward(net, gone));
        says(ctx, "gr_forward", "gone");
        for (int step = 0; step < 5000 * later; step++) { /* many headers, most of them given back to the system */
            assert_true(isfinite(gr_item(some_loss(v))));
            gr_step_end(ctx);
        }
    }
    gr_close(ctx);
}

/* Addresses of headers are spent, memory is not: it comes back while the program goes on, through several regions. */
static void headers_never_come_twice(void **state)
{
    (void)state;
    gr_context *ctx = open_as("cpu", 0);
    gr_handles h = {0};
    gr_tensor *first = gr__handle_new(ctx, &h), *kept = NULL;
    first->ctx = ctx;
    gr__handle_free(&h, first);
    for (int64_t i = 0; i < 6000000; i++) {
        gr_tensor *t = gr__handle_new(ctx, &h);
        if (!t || t == first || t->ctx)
            fail_msg("header %lld came a second time", (long long)i);
        t->ctx = ctx;
        if (i == 100)
            kept = t;
        else
            gr__handle_free(&h, t);
    }
    assert_ptr_equal(kept->ctx, ctx);
    assert_null(first->ctx);
    assert_ptr_equal(gr__handle_context(first), ctx);
    gr__handles_close(&h);
    gr_close(ctx);
}

/* What shares the storage of something that backward gave back is gone with it; a loss that shares it is not. */
static void shared_storage_after_backward(void **state)
{
    (void)state;
    gr_context *ctx = open_as("cpu", 0);
    gr_tensor *v = gr_variable(ctx, 1, (int64_t[]){4});
    assert_true(gr_upload(v, (float[]){1, 2, 3, 6}));
    gr_tensor *flat = gr_reshape(gr_relu(v), 2, (int64_t[]){2, 2});
    gr_tensor *loss = gr_reshape(gr_l2_penalty(flat, 1), 1, (int64_t[]){1});
    assert_true(gr_backward(loss));
    gr_relu(v); /* takes storage that is free */
    assert_float_equal(gr_item(loss), 50, 0);
    float values[4];
    assert_false(gr_download(flat, values));
    says(ctx, "gr_download", "gr_backward");
    gr_close(ctx);
}

/* A batch after its loader was closed. */
static void batches_of_a_closed_loader(void **state)
{
    (void)state;
    gr_context *ctx = open_as("cpu", 0);
    gr_loader *loader =
        gr_loader_open(gr_procedural(ctx, 8, 4, 4, 1), &(gr_loader_options){.batch = 4, .order = GR_IN_ORDER});
    gr_batch batch;
    assert_true(gr_loader_next(loader, &batch));
    gr_loader_close(loader);
    assert_true(isnan(gr_item(batch.y)));
    says(ctx, "gr_item", "gr_loader_close");
    gr_close(ctx);
}

/* --- a program that is wrong everywhere --------------------------------------------------------------------------- */

typedef struct {
    gr_context *ctx, *other;
    gr_module *net; /* two features to one logit, built */
    gr_optimizer *opt;
    gr_dataset *set;
    gr_tensor *v, *x, *integers; /* a variable [4], rows [3,2], i32 [2] */
} program;

static program open_program(void)
{
    program p = {.ctx = open_as("cpu", 0), .other = open_as("cpu", 0)};
    p.net = gr_sequential(p.ctx, gr_dense_layer(p.ctx, &(gr_dense_options){.units = 1}), NULL);
    assert_true(gr_module_build(p.net, 1, (int64_t[]){2}));
    p.opt = gr_sgd(p.ctx, p.net, NULL);
    p.set = gr_procedural(p.ctx, 8, 4, 4, 1);
    p.v = gr_variable(p.ctx, 1, (int64_t[]){4});
    p.x = gr_tensor_new(p.ctx, GR_F32, 2, (int64_t[]){3, 2});
    p.integers = gr_tensor_new(p.ctx, GR_I32, 1, (int64_t[]){2});
    return p;
}

/* Each calls one function wrongly. What is returned is of no interest: the context has the message. */
static void negative_shape(program *p)
{
    gr_tensor_new(p->ctx, GR_F32, 1, (int64_t[]){-1});
}

static void too_many_dimensions(program *p)
{
    gr_variable(p->ctx, 5, (int64_t[]){1, 1, 1, 1, 1});
}

static void no_shape(program *p)
{
    gr_tensor_new(p->ctx, GR_F32, 2, NULL);
}

static void upload_of_nothing(program *p)
{
    gr_upload(p->v, NULL);
}

static void download_to_nowhere(program *p)
{
    gr_download(p->v, NULL);
}

static void item_of_many(program *p)
{
    gr_item(p->v);
}

static void backward_from_a_constant(program *p)
{
    gr_backward(gr_tensor_new(p->ctx, GR_F32, 0, NULL));
}

static void backward_twice(program *p)
{
    gr_tensor *loss = gr_l2_penalty(gr_relu(p->v), 1);
    gr_backward(loss);
    gr_backward(loss);
}

static void other_context(program *p)
{
    gr_add(p->v, gr_variable(p->other, 1, (int64_t[]){4}), NULL);
}

static void another_types(program *p)
{
    gr_relu(p->integers);
}

static void another_shape(program *p)
{
    gr_dense(p->x, gr_tensor_new(p->ctx, GR_F32, 2, (int64_t[]){3, 3}), NULL, NULL);
}

static void rows_for_images(program *p)
{
    gr_conv2d(p->x, p->x, NULL, NULL);
}

static void no_window(program *p)
{
    gr_max_pool2d(gr_tensor_new(p->ctx, GR_F32, 4, (int64_t[]){1, 4, 4, 1}), NULL);
}

static void no_units(program *p)
{
    gr_dense_layer(p->ctx, NULL);
}

static void one_layer_twice(program *p)
{
    gr_module *relu = gr_relu_layer(p->ctx);
    gr_sequential(p->ctx, relu, relu, NULL);
}

static void a_name_with_a_dot(program *p)
{
    gr_named(p->net, "a.b");
}

static void no_name(program *p)
{
    gr_named(p->net, NULL);
}

static void built_twice(program *p)
{
    gr_module_build(p->net, 1, (int64_t[]){2});
}

static void update_before_build(program *p)
{
    gr_module *net = gr_sequential(p->ctx, gr_dense_layer(p->ctx, &(gr_dense_options){.units = 1}), NULL);
    gr_optimizer_step(gr_adam(p->ctx, net, NULL));
}

static void rate_below_zero(program *p)
{
    gr_set_lr(p->opt, -1);
}

static void rate_of_zero(program *p)
{
    gr_sgd(p->ctx, p->net, &(gr_sgd_options){.lr = GR_ZERO});
}

static void optimizer_without_a_model(program *p)
{
    gr_adam(p->ctx, NULL, NULL);
}

static void optimizer_of_another_context(program *p)
{
    gr_adam(p->other, p->net, NULL);
    if (!gr_ok(p->other)) /* it is that one's error: pass it on */
        gr__fail(p->ctx, GR_USAGE, "%s", gr_error_text(p->other));
}

static void beta_of_one(program *p)
{
    gr_adam(p->ctx, p->net, &(gr_adam_options){.adam = {.beta1 = 1}});
}

static void batch_of_none(program *p)
{
    gr_loader_open(p->set, &(gr_loader_options){.batch = 0});
}

static void loader_without_options(program *p)
{
    gr_loader_open(p->set, NULL);
}

static void fit_without_an_end(program *p)
{
    gr_fit(p->net, p->opt, (gr_split){.train = p->set}, &(gr_fit_options){.batch = 4});
}

static void fit_without_data(program *p)
{
    gr_fit(p->net, p->opt, (gr_split){0}, &(gr_fit_options){.batch = 4, .epochs = 1});
}

static void too_large_a_split(program *p)
{
    gr_split_per_class(p->set, 100, 0, 0);
}

static void weights_without_a_path(program *p)
{
    gr_save_weights(p->net, NULL);
}

static void half_a_scale(program *p)
{
    gr_set_loss_scale(p->ctx, 2);
}

static void dropout_of_all(program *p)
{
    gr_dropout(p->x, 1);
}

static void twenty_functions_and_more(void **state)
{
    (void)state;
    static const struct {
        void (*call)(program *p);
        const char *says;
    } wrong[] = {
        {negative_shape, "dimension 0"},
        {too_many_dimensions, "0 to 4 dimensions"},
        {no_shape, "shape"},
        {upload_of_nothing, "gr_upload"},
        {download_to_nowhere, "gr_download"},
        {item_of_many, "gr_item"},
        {backward_from_a_constant, "gr_backward"},
        {backward_twice, "differentiated before"},
        {other_context, "another context"},
        {another_types, "type i32"},
        {another_shape, "dense"},
        {rows_for_images, "conv2d"},
        {no_window, "max_pool2d"},
        {no_units, "gr_dense_layer"},
        {one_layer_twice, "gr_sequential"},
        {a_name_with_a_dot, "gr_named"},
        {no_name, "gr_named"},
        {built_twice, "gr_module_build"},
        {update_before_build, "no parameters"},
        {rate_below_zero, "learning rate"},
        {rate_of_zero, "learning rate"},
        {optimizer_without_a_model, "model"},
        {optimizer_of_another_context, "context"},
        {beta_of_one, "beta1"},
        {batch_of_none, "batch"},
        {loader_without_options, "batch"},
        {fit_without_an_end, "gr_fit"},
        {fit_without_data, "gr_fit"},
        {too_large_a_split, "100"},
        {weights_without_a_path, "gr_save_weights"},
        {half_a_scale, "gr_set_loss_scale"},
        {dropout_of_all, "dropout"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        program p = open_program();
        assert_true(gr_ok(p.ctx));
        wrong[i].call(&p);
        if (gr_ok(p.ctx) || !strstr(gr_error_text(p.ctx), wrong[i].says))
            fail_msg("mistake %zu: \"%s\" does not say \"%s\"", i, gr_error_text(p.ctx), wrong[i].says);
        gr_close(p.ctx);
        gr_close(p.other);
    }
}

/* A zero that is meant. */
static void zeros_that_mean_zero(void **state)
{
    (void)state;
    float weights[2][2];
    for (int k = 0; k < 2; k++) { /* beta1 and beta2 0: every step is lr, up or down */
        program p = open_program();
        gr_adam_options o = {.lr = 0.5, .adam = {.beta1 = k ? GR_ZERO : 0, .beta2 = k ? GR_ZERO : 0}};
        gr_optimizer *adam = gr_adam(p.ctx, p.net, &o);
        gr_tensor *w = gr_parameter(p.net, 0);
        assert_true(gr_upload(w, (float[]){1, -3}));
        for (int u = 0; u < 2; u++)
            assert_true(gr_backward(gr_l2_penalty(w, 1)) && gr_optimizer_step(adam));
        assert_true(gr_download(w, weights[k]));
        assert_int_equal(gr_close(p.ctx) + gr_close(p.other), 0);
    }
    assert_float_equal(weights[1][1], -2, 1e-5);
    assert_float_not_equal(weights[0][1], weights[1][1], 1e-5);
    gr_schedule steps = {.kind = GR_STEPS, .every = 1, .gamma = GR_ZERO};
    assert_true(gr_scheduled_lr(&steps, 1, 0, 4, 1) == 1 && gr_scheduled_lr(&steps, 1, 1, 4, 1) == 0);
    steps.gamma = 0;
    assert_float_equal(gr_scheduled_lr(&steps, 1, 1, 4, 1), 0.1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precisions_are_no_types),    cmocka_unit_test(tensors_of_a_step_that_is_over),
        cmocka_unit_test(headers_never_come_twice),   cmocka_unit_test(shared_storage_after_backward),
        cmocka_unit_test(batches_of_a_closed_loader), cmocka_unit_test(twenty_functions_and_more),
        cmocka_unit_test(zeros_that_mean_zero),       cmocka_unit_test(options_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
