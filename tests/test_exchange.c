/*
 * test_exchange.c - weights of other tools: files that PyTorch and Keras wrote give their logits here, what is
 * ambiguous is refused, and what is exported comes back. tests/exchange has the round trips through the packages.
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

#include "core/half.h"
#include "core/safetensors.h"
#include "gradus.h"
#include "nn/module.h"

enum { HEIGHT = 6, WIDTH = 8, PICTURES = 3, LOGITS = 3 };

static char folder[] = "/tmp/gradus-exchange-XXXXXX";
static char path[256];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/weights", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* The network of tests/exchange/networks.py. */
static gr_module *normalised(gr_context *ctx)
{
    gr_module *net =
        gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3, .padding = GR_SAME}),
                      gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
                      gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 5}), gr_relu_layer(ctx),
                      gr_dense_layer(ctx, &(gr_dense_options){.units = LOGITS}), NULL);
    gr_module_build(net, 3, (int64_t[]){HEIGHT, WIDTH, 3});
    return net;
}

/* --- golden files ------------------------------------------------------------------------------------------------- */

static void assert_logits(gr_module *net, const char *tool)
{
    gr_safetensors golden;
    float z[PICTURES * LOGITS], want[PICTURES * LOGITS], most = 0;
    assert_true(gr__safetensors_read(net->ctx, GRADUS_TESTS "/exchange/golden/answers.safetensors", &golden));
    gr_tensor *x = gr_tensor_new(net->ctx, GR_F32, 4, (int64_t[]){PICTURES, HEIGHT, WIDTH, 3});
    assert_true(gr_upload(x, gr__safetensors_find(&golden, "pictures")->data));
    memcpy(want, gr__safetensors_find(&golden, tool)->data, sizeof want);
    gr__safetensors_free(&golden);
    gr_record(net->ctx, false);
    assert_true(gr_download(gr_forward(net, x), z));
    gr_record(net->ctx, true);
    gr_step_end(net->ctx);
    for (int i = 0; i < PICTURES * LOGITS; i++)
        most = fmaxf(most, fabsf(want[i]));
    for (int i = 0; i < PICTURES * LOGITS; i++)
        if (!(fabsf(z[i] - want[i]) <= 1e-4f * most))
            fail_msg("%s, logit %d: %.7g, wanted is %.7g", tool, i, (double)z[i], (double)want[i]);
}

static void assert_names(int tool)
{
    static const char *const names[2][4] = {{"bn1.weight", "bn1.bias", "bn1.running_var", "bn1.num_batches_tracked"},
                                            {"bn1/gamma", "bn1/beta", "bn1/moving_variance", "dense1/kernel"}};
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    assert_true(gr__safetensors_read(ctx, path, &file));
    for (int i = 0; i < 4; i++)
        assert_non_null(gr__safetensors_find(&file, names[tool][i]));
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

static void golden_files(void **state)
{
    (void)state;
    const struct {
        const char *tool, *told[2];
    } cases[] = {
        {"torch", {"C,H,W to H,W,C; by their order 0 is conv1, 1 is bn1, 5 is dense1, 7 is dense2", "over 1 counter"}},
        {"keras", {"HWIO to KRSC", "sequential/dense is dense1, sequential/dense_1 is dense2"}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[512];
        gr_import_report report;
        gr_context *ctx = gr_open(NULL);
        gr_module *net = normalised(ctx);
        snprintf(name, sizeof name, "%s/exchange/golden/%s.safetensors", GRADUS_TESTS, cases[i].tool);
        if (!gr_import_weights(net, name, NULL, &report))
            fail_msg("%s\n%s", gr_error_text(ctx), report.table);
        for (int j = 0; j < 2; j++)
            if (!strstr(report.told, cases[i].told[j]))
                fail_msg("expected \"%s\" in: %s", cases[i].told[j], report.told);
        assert_logits(net, cases[i].tool);
        const gr_weights_reader reader = i == 0 ? GR_FOR_TORCH : GR_FOR_KERAS;
        assert_true(gr_export_weights(net, path, reader)); /* and through a file of our own making */
        assert_names((int)i);
        gr_module *again = normalised(ctx);
        assert_true(gr_import_weights(again, path, NULL, NULL));
        assert_logits(again, cases[i].tool);
        assert_int_equal(gr_close(ctx), 0);
    }
}

/* --- what decides ------------------------------------------------------------------------------------------------- */

static gr_saved_tensor tensor(const char *name, gr_type type, const void *data, int ndim, int64_t a, int64_t b,
                              int64_t c, int64_t d)
{
    gr_saved_tensor t = {.type = type, .ndim = ndim, .shape = {a, b, c, d}, .data = data};
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

static void write_file(int n, const gr_saved_tensor *tensors)
{
    gr_context *ctx = gr_open(NULL);
    assert_true(gr__safetensors_write(ctx, path, n, tensors));
    assert_int_equal(gr_close(ctx), 0);
}

/* A filter of 3x3x3x3 has its shape in any layout: the names tell how it lies. */
static void a_square_kernel_goes_by_the_names(void **state)
{
    (void)state;
    float in[81], kept[81];
    for (int i = 0; i < 81; i++)
        in[i] = (float)i;
    for (int tool = 0; tool < 2; tool++) {
        gr_context *ctx = gr_open(NULL);
        gr_module *net = gr_sequential(
            ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 3, .kernel = 3, .no_bias = true}), NULL);
        assert_true(gr_module_build(net, 3, (int64_t[]){3, 3, 3}));
        const gr_saved_tensor one = tensor(tool ? "conv1/kernel" : "conv1.weight", GR_F32, in, 4, 3, 3, 3, 3);
        write_file(1, &one);
        assert_true(gr_import_weights(net, path, NULL, NULL));
        assert_true(gr_download(gr_parameter(net, 0), kept));
        for (int k = 0; k < 3; k++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    for (int c = 0; c < 3; c++)
                        assert_true(kept[((k * 3 + r) * 3 + s) * 3 + c] ==
                                    in[tool ? ((r * 3 + s) * 3 + c) * 3 + k : ((k * 3 + c) * 3 + r) * 3 + s]);
        assert_int_equal(gr_close(ctx), 0);
    }
}

/* dense1 [2,3] without bias, dense2 [2,2] without. */
static gr_module *two_dense(gr_context *ctx, int features)
{
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 2, .no_bias = true}),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 2, .no_bias = true}), NULL);
    assert_true(gr_module_build(net, 1, (int64_t[]){features}));
    return net;
}

static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static void refused(int n, const gr_saved_tensor *tensors, const char *why, const char *in_table)
{
    gr_context *ctx = gr_open(NULL);
    gr_module *net = two_dense(ctx, 2);
    float before[4], after[4];
    gr_import_report report;
    assert_true(gr_download(gr_parameter(net, 0), before));
    write_file(n, tensors);
    assert_false(gr_import_weights(net, path, NULL, &report));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    if (!strstr(gr_error_text(ctx), why))
        fail_msg("expected \"%s\" in: %s", why, gr_error_text(ctx));
    if (in_table && (!report.table || !strstr(report.table, in_table)))
        fail_msg("expected \"%s\" in:\n%s", in_table, report.table);
    gr_clear_error(ctx);
    assert_true(gr_download(gr_parameter(net, 0), after));
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(gr_close(ctx), 0);
}

static void what_is_not_clear_is_refused(void **state)
{
    (void)state;
    const gr_saved_tensor hidden = tensor("hidden.weight", GR_F32, numbers, 2, 2, 2, 0, 0),
                          out = tensor("out.weight", GR_F32, numbers, 2, 2, 2, 0, 0),
                          keras = tensor("dense1/kernel", GR_F32, numbers, 2, 2, 2, 0, 0),
                          wide = tensor("dense1.weight", GR_F32, numbers, 2, 2, 4, 0, 0),
                          bytes = tensor("dense1.weight", GR_U8, numbers, 2, 2, 2, 0, 0),
                          first = tensor("dense1.weight", GR_F32, numbers, 2, 2, 2, 0, 0),
                          second = tensor("dense2.weight", GR_F32, numbers, 2, 2, 2, 0, 0),
                          third = tensor("dense3.weight", GR_F32, numbers, 2, 2, 2, 0, 0),
                          planted = tensor("\x1b]0;x\n.weight", GR_F32, numbers, 2, 2, 2, 0, 0),
                          what = tensor("w0", GR_F32, numbers, 2, 2, 2, 0, 0);
    refused(2, (gr_saved_tensor[]){hidden, out}, "no tensor dense1.weight", "hidden.weight                  [2,2]");
    refused(2, (gr_saved_tensor[]){first, keras}, "PyTorch's names (dense1.weight) and Keras' (dense1/kernel)", NULL);
    refused(2, (gr_saved_tensor[]){wide, second}, "dense1.weight has shape [2,4]; the model wants [2,2]", "1 tensors");
    refused(2, (gr_saved_tensor[]){bytes, second}, "dense1.weight has type u8", NULL);
    refused(1, &first, "no tensor dense2.weight", "dense2.weight");
    refused(3, (gr_saved_tensor[]){first, second, third}, "a tensor dense3.weight that", "dense3.weight");
    refused(3, (gr_saved_tensor[]){first, second, planted}, "does not have", "?]0;x?.weight");
    refused(1, &what, "no tensor dense1.weight", "w0");
}

/* Numbers are counted as people do, and other types are widened. */
static void names_in_order(void **state)
{
    (void)state;
    uint16_t halves[4], short_floats[4];
    float got[4];
    for (int i = 0; i < 4; i++) {
        halves[i] = gr__f16_of((double)numbers[i]);
        short_floats[i] = gr__bf16_of((double)numbers[i + 4]);
    }
    write_file(2, (gr_saved_tensor[]){tensor("net.10.weight", GR_BF16, short_floats, 2, 2, 2, 0, 0),
                                      tensor("net.2.weight", GR_F16, halves, 2, 2, 2, 0, 0)});
    gr_context *ctx = gr_open(NULL);
    gr_module *net = two_dense(ctx, 2);
    gr_import_report report;
    assert_true(gr_import_weights(net, path, NULL, &report));
    assert_non_null(strstr(report.told, "net.2 is dense1, net.10 is dense2"));
    assert_true(gr_download(gr_parameter(net, 0), got));
    assert_memory_equal(got, ((float[]){1, 3, 2, 4}), sizeof got);
    assert_true(gr_download(gr_parameter(net, 1), got));
    assert_memory_equal(got, ((float[]){5, 7, 6, 8}), sizeof got);
    assert_int_equal(gr_close(ctx), 0);
}

/* --- another head ------------------------------------------------------------------------------------------------- */

static void a_head_of_another_shape_stays(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *old = normalised(ctx);
    gr_import_report report;
    float bias[5] = {1, 2, 3, 4, 5}, got[5], before[10], after[10];
    assert_true(gr_upload(gr_parameter(old, 5), bias)); /* dense1.bias */
    assert_true(gr_save_weights(old, path));
    gr_module *net =
        gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3, .padding = GR_SAME}),
                      gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2),
                      gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 5}), gr_relu_layer(ctx),
                      gr_dense_layer(ctx, &(gr_dense_options){.units = LOGITS}), NULL);
    assert_int_equal(gr_module_outputs(net), LOGITS);
    assert_true(gr_module_set_outputs(net, 2));
    assert_true(gr_module_build(net, 3, (int64_t[]){HEIGHT, WIDTH, 3}));
    assert_int_equal(gr_module_outputs(net), 2);
    assert_true(gr_download(gr_parameter(net, 6), before));
    assert_false(gr_import_weights(net, path, NULL, &report));
    assert_non_null(strstr(report.table, "dense2.weight                  [2,5]"));
    gr_clear_error(ctx);
    assert_true(gr_import_weights(net, path, &(gr_import_options){.keep_head = true}, &report));
    assert_string_equal(report.head, "dense2");
    assert_non_null(strstr(report.told, "dense2 keeps its first values"));
    assert_true(gr_download(gr_parameter(net, 6), after));
    assert_memory_equal(before, after, sizeof before);
    assert_true(gr_download(gr_parameter(net, 5), got));
    assert_memory_equal(got, bias, sizeof bias);
    assert_true(gr_download(gr_parameter(old, 7), before) && gr_upload(gr_parameter(old, 7), bias)); /* dense2.bias */
    assert_true(gr_import_weights(old, path, &(gr_import_options){.keep_head = true}, &report));
    assert_string_equal(report.head, ""); /* the same shape: taken from the file */
    assert_true(gr_download(gr_parameter(old, 7), after));
    assert_memory_equal(before, after, LOGITS * sizeof *before);
    assert_false(gr_module_set_outputs(net, 4));
    assert_non_null(strstr(gr_error_text(ctx), "built already"));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files),
        cmocka_unit_test(a_square_kernel_goes_by_the_names),
        cmocka_unit_test(what_is_not_clear_is_refused),
        cmocka_unit_test(names_in_order),
        cmocka_unit_test(a_head_of_another_shape_stays),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
