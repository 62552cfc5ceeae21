/* test_own_layers.c - layers, losses and variables of a program's own: built, named, drawn, trained, saved, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"

enum { ROWS = 4, IN = 3, OUT = 2 };

static gr_context *open_ref(void)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 9});
    assert_true(gr_ok(ctx));
    return ctx;
}

/* A dense layer made by hand, of as many outputs as user says. */
static bool build(gr_module *m, gr_sample_shape *shape)
{
    const int64_t in = shape->dim[0], out = *(const int *)gr_module_user(m);
    *shape = (gr_sample_shape){.ndim = 1, .dim = {out}};
    return gr_module_declare(m, &(gr_variable_options){.name = "weight", .ndim = 2, .shape = {in, out}}) &&
           gr_module_declare(m, &(gr_variable_options){.name = "bias", .ndim = 1, .shape = {out}, .init = GR_ZEROS});
}

static gr_tensor *forward(gr_module *m, gr_tensor *x)
{
    gr_tensor *w = gr_module_variable(m, 0);
    return gr_dense(x, w, gr_module_variable(m, 1), NULL);
}

static int units = OUT;

static gr_module *mine(gr_context *ctx)
{
    return gr_module_new(ctx, &(gr_module_options){.kind = "mine", .build = build, .forward = forward, .user = &units});
}

/* As mine, or the library's own. */
static gr_module *network(gr_context *ctx, bool own)
{
    gr_module *layer[2];
    for (int i = 0; i < 2; i++)
        layer[i] = own ? mine(ctx) : gr_dense_layer(ctx, &(gr_dense_options){.units = OUT});
    return gr_sequential(ctx, layer[0], gr_relu_layer(ctx), layer[1], NULL);
}

/* Three updates; returns the last loss, to the bit. */
static double train(gr_context *ctx, gr_module *net)
{
    gr_optimizer *opt = gr_adam(ctx, net, NULL);
    gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){ROWS, IN});
    gr_tensor *y = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){ROWS});
    double values[ROWS * IN], loss = NAN;
    for (int i = 0; i < ROWS * IN; i++)
        values[i] = sin(i);
    assert_true(gr_upload(x, values) && gr_upload(y, (int32_t[]){0, 1, 1, 0}));
    for (int u = 0; u < 3; u++) {
        gr_tensor *l = gr_softmax_cross_entropy(gr_forward(net, x), y, NULL);
        loss = gr_item(l);
        assert_true(gr_minimize(opt, l));
        gr_step_end(ctx);
    }
    return loss;
}

/* The same layer, the same bits: draws, gradients and updates are those of the library's. */
static void as_good_as_the_librarys(void **state)
{
    (void)state;
    gr_context *ctx = open_ref(), *other = open_ref();
    gr_module *own = network(ctx, true), *theirs = network(other, false);
    const double loss = train(ctx, own);
    assert_true(loss == train(other, theirs));
    assert_int_equal(gr_parameter_count(own), 4);
    assert_string_equal(gr_parameter_name(own, 0), "mine1.weight");
    assert_string_equal(gr_parameter_name(own, 3), "mine2.bias");
    gr_summary_row rows[8];
    assert_int_equal(gr_summary(own, rows, 8), 3);
    assert_string_equal(rows[2].name, "mine2");
    assert_int_equal(rows[2].parameters, OUT * OUT + OUT);
    assert_int_equal(gr_close(ctx) + gr_close(other), 0);
}

/* Weights to a file and into another model. */
static void saved_and_loaded(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_module *net = network(ctx, true), *again = network(ctx, true);
    train(ctx, net);
    const char *path = "own_layers.safetensors";
    assert_true(gr_save_weights(net, path));
    assert_true(gr_module_build(again, 1, (int64_t[]){IN}) && gr_load_weights(again, path));
    remove(path);
    for (int i = 0; i < 4; i++) {
        double a[IN * OUT] = {0}, b[IN * OUT] = {0};
        assert_true(gr_download(gr_parameter(net, i), a) && gr_download(gr_parameter(again, i), b));
        for (int64_t j = 0; j < gr_count(gr_parameter(net, i)); j++)
            assert_float_equal(a[j], b[j], 1e-7); /* floats on disk */
    }
    assert_int_equal(gr_close(ctx), 0);
}

static gr_tensor *gives_nothing(gr_module *m, gr_tensor *x)
{
    (void)m, (void)x;
    return NULL;
}

static gr_tensor *gives_another_shape(gr_module *m, gr_tensor *x)
{
    (void)m;
    return gr_reshape(x, 1, (int64_t[]){gr_count(x)});
}

static bool refuses(gr_module *m, gr_sample_shape *shape)
{
    return gr_module_fail(m, shape->ndim == 1 ? "no rows, please" : "nor anything else");
}

static bool gives_up(gr_module *m, gr_sample_shape *shape)
{
    return m && shape->ndim == 7;
}

static bool declares_twice(gr_module *m, gr_sample_shape *shape)
{
    const gr_variable_options v = {.name = "weight", .ndim = 1, .shape = {shape->dim[0]}};
    return gr_module_declare(m, &v) && gr_module_declare(m, &v);
}

static bool announces_nothing(gr_module *m, gr_sample_shape *shape)
{
    shape->dim[0] = m ? 0 : 1;
    return true;
}

static void wrong_layers(void **state)
{
    (void)state;
    const struct {
        gr_module_options options;
        const char *says;
    } wrong[] = {
        {{.kind = "a", .forward = gives_nothing}, "a1: its forward function gave NULL"},
        {{.kind = "b", .forward = gives_another_shape}, "announced [4,3]"},
        {{.kind = "c", .forward = forward, .build = refuses}, "c1: no rows, please"},
        {{.kind = "d", .forward = forward, .build = gives_up}, "d1: its build function gave up"},
        {{.kind = "e", .forward = forward, .build = declares_twice}, "e1 has a variable weight already"},
        {{.kind = "f", .forward = forward, .build = announces_nothing}, "f1: its build function announced"},
        {{.kind = "g", .forward = forward}, "g1 has no variable 0"},
        {{.kind = "h2", .forward = forward}, "gr_module_new"},
        {{.kind = "i.j", .forward = forward}, "gr_module_new"},
        {{.forward = forward}, "gr_module_new"},
        {{.kind = "k"}, "gr_module_new"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gr_context *ctx = open_ref();
        gr_module *m = gr_module_new(ctx, &wrong[i].options);
        assert_null(gr_forward(m, gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){ROWS, IN})));
        if (gr_error_code(ctx) != GR_USAGE || !strstr(gr_error_text(ctx), wrong[i].says))
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, gr_error_text(ctx), wrong[i].says);
        gr_close(ctx);
    }
}

/* Least squares by hand: variables that belong to no layer, under an optimizer, in a file. */
static void variables_are_trained(void **state)
{
    (void)state;
    gr_context *ctx = open_ref();
    gr_tensor *w = gr_variable(ctx, 2, (int64_t[]){1, 1}), *b = gr_variable(ctx, 1, (int64_t[]){1});
    gr_tensor *x = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){4, 1}),
              *t = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){4, 1});
    assert_true(gr_upload(w, &(double){5}) && gr_upload(b, &(double){-1}));
    assert_true(gr_upload(x, (double[]){0, 1, 2, 3}) && gr_upload(t, (double[]){-1, -3, -5, -7})); /* -(2 x + 1) */
    gr_module *line = gr_variables(ctx, 2, (gr_tensor *[]){w, b}, (const char *[]){"slope", "shift"});
    assert_float_equal(gr_item(w) + gr_item(b), 4, 0); /* values have moved with them */
    assert_ptr_equal(gr_parameter(line, 1), b);
    gr_optimizer *opt = gr_sgd(ctx, line, &(gr_sgd_options){.lr = 0.05, .momentum = 0.5});
    for (int u = 0; u < 400; u++) {
        gr_backward(gr_l2_penalty(gr_add(gr_dense(x, w, b, NULL), t, NULL), 0.25));
        assert_true(gr_optimizer_step(opt));
        gr_step_end(ctx);
    }
    assert_float_equal(gr_item(w), 2, 1e-9);
    assert_float_equal(gr_item(b), 1, 1e-9);
    assert_true(gr_save_weights(line, "variables.safetensors") && gr_upload(w, &(double){0}));
    assert_true(gr_load_weights(line, "variables.safetensors"));
    remove("variables.safetensors");
    assert_float_equal(gr_item(w), 2, 1e-6);
    assert_int_equal(gr_close(ctx), 0);
}

static gr_tensor *doubled(void *user, gr_tensor *z, const gr_batch *batch)
{
    ++*(int *)user;
    return gr_scale(gr_loss(z, batch), 2);
}

static gr_tensor *no_loss(void *user, gr_tensor *z, const gr_batch *batch)
{
    (void)user, (void)batch;
    return z;
}

/* A fit by one's own loss: twice the loss at half the rate is the same training. */
static void a_loss_of_ones_own(void **state)
{
    (void)state;
    int calls = 0;
    double loss[2], sharp[2];
    for (int own = 0; own < 2; own++) {
        gr_context *ctx = open_ref();
        gr_split part = gr_split_per_class(gr_table_classes(ctx, 80, 2, 1), 32, 8, 0);
        gr_module *net =
            gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
        gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = own ? 0.05 : 0.1});
        gr_fit_options o = {.batch = 16, .epochs = 2, .loss = own ? doubled : NULL, .user = &calls};
        gr_fit_result r = gr_fit(net, opt, part, &o);
        assert_true(gr_ok(ctx));
        loss[own] = r.val.loss;
        sharp[own] =
            gr_measure_sharpness(net, part.train, &(gr_sharpness_options){.loss = o.loss, .user = &calls}).loss;
        o.loss = no_loss;
        gr_fit(net, opt, part, &o);
        assert_non_null(strstr(gr_error_text(ctx), own ? "gave 16 numbers" : "own loss function"));
        gr_close(ctx);
    }
    assert_true(calls > 8);
    assert_float_equal(loss[1], 2 * loss[0], 1e-12);
    assert_float_equal(sharp[1], 2 * sharp[0], 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_the_librarys), cmocka_unit_test(saved_and_loaded),   cmocka_unit_test(wrong_layers),
        cmocka_unit_test(variables_are_trained),   cmocka_unit_test(a_loss_of_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
