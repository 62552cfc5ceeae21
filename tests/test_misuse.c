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
    gr_loader *loader = gr_loader_open(gr_procedural(ctx, 8, 4, 4, 1), &(gr_loader_options){.batch = 4});
    gr_batch batch;
    assert_true(gr_loader_next(loader, &batch));
    gr_loader_close(loader);
    assert_true(isnan(gr_item(batch.y)));
    says(ctx, "gr_item", "gr_loader_close");
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precisions_are_no_types),    cmocka_unit_test(tensors_of_a_step_that_is_over),
        cmocka_unit_test(headers_never_come_twice),   cmocka_unit_test(shared_storage_after_backward),
        cmocka_unit_test(batches_of_a_closed_loader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
