/* test_nn.c - models: names, first values, the order of weights on disk, fusion, the summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/philox.h"
#include "core/safetensors.h"
#include "gradus.h"
#include "nn/module.h"

static char path[] = "/tmp/gradus-weights-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* 6x5x2 image: conv 3 (3x2 window) -> 4x4x3, pool -> 2x2x3, flatten -> 12, dense 4, dense 2 */
static gr_module *model(gr_context *ctx)
{
    gr_module *net = gr_sequential(
        ctx,
        gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 3, .kernel_size = {3, 2}, .init = GR_KAIMING_UNIFORM}),
        gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 4, .init = GR_HE_UNIFORM}), gr_relu_layer(ctx),
        gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
    gr_module_build(net, 3, (int64_t[]){6, 5, 2});
    return net;
}

/* Each GR_UNARY of ops.def: its layer and itself. */
static const struct {
    gr_module *(*layer)(gr_context *ctx);
    gr_tensor *(*op)(gr_tensor *x);
} functions[] = {
#define GR_OP(...)
#define GR_UNARY(name, ...) {gr_##name##_layer, gr_##name},
#include "kernels/ops/ops.def"
};

static void layers_of_functions(void **state)
{
    (void)state;
    enum { COUNT = 8 };
    const float x[COUNT] = {-2, -1, -0.5f, 0, 0.25f, 1, 2, 3};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        float layer[COUNT] = {0}, op[COUNT] = {0};
        gr_context *ctx = gr_open(NULL);
        gr_module *net =
            gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 4}), functions[i].layer(ctx), NULL);
        gr_tensor *in = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){2, 4});
        gr_upload(in, x);
        gr_download(gr_forward(net, in), layer);
        gr_download(functions[i].op(gr_dense(in, gr_parameter(net, 0), gr_parameter(net, 1), NULL)), op);
        assert_true(gr_ok(ctx) && (op[0] != 0 || op[1] != 0 || op[2] != 0 || op[3] != 0));
        assert_memory_equal(layer, op, sizeof op);
        assert_int_equal(gr_close(ctx), 0);
    }
}

static void names_in_layer_order(void **state)
{
    (void)state;
    static const char *const names[] = {"conv1.weight", "conv1.bias",    "dense1.weight",
                                        "dense1.bias",  "dense2.weight", "dense2.bias"};
    gr_context *ctx = gr_open(NULL);
    gr_module *net = model(ctx);
    assert_int_equal(gr_parameter_count(net), 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(gr_parameter_name(net, i), names[i]);
    assert_null(gr_parameter(net, 6));
    assert_int_equal(gr_close(ctx), 0);
}

/* Every element must keep its meaning: the value in memory at (k,r,s,c) is on disk at (k,c,r,s), and so on. */
static void disk_order_is_pytorch(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = model(ctx);
    enum { K = 3, R = 3, S = 2, C = 2, H = 2, W = 2, F = 3, OUT = 4 };
    float conv[K * R * S * C], dense[H * W * F * OUT];
    for (int k = 0; k < K; k++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
                for (int c = 0; c < C; c++)
                    conv[((k * R + r) * S + s) * C + c] = (float)(k * 1000 + c * 100 + r * 10 + s);
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            for (int c = 0; c < F; c++)
                for (int o = 0; o < OUT; o++)
                    dense[((h * W + w) * F + c) * OUT + o] = (float)(o * 1000 + c * 100 + h * 10 + w);
    assert_true(gr_upload(gr_parameter(net, 0), conv));
    assert_true(gr_upload(gr_parameter(net, 2), dense));
    assert_true(gr_save_weights(net, path));

    gr_safetensors file;
    assert_true(gr__safetensors_read(ctx, path, &file));
    assert_int_equal(file.n, 6);
    const float *v = file.tensors[0].data;
    assert_memory_equal(file.tensors[0].shape, ((int64_t[]){K, C, R, S}), sizeof(int64_t[4]));
    for (int k = 0; k < K; k++)
        for (int c = 0; c < C; c++)
            for (int r = 0; r < R; r++)
                for (int s = 0; s < S; s++)
                    assert_true(*v++ == (float)(k * 1000 + c * 100 + r * 10 + s));
    v = file.tensors[2].data;
    assert_int_equal(file.tensors[2].shape[0], OUT);
    for (int o = 0; o < OUT; o++)
        for (int c = 0; c < F; c++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < W; w++)
                    assert_true(*v++ == (float)(o * 1000 + c * 100 + h * 10 + w));
    gr__safetensors_free(&file);

    gr_module *again = model(ctx);
    assert_true(gr_load_weights(again, path));
    float back[H * W * F * OUT];
    assert_true(gr_download(gr_parameter(again, 2), back));
    assert_memory_equal(back, dense, sizeof dense);
    assert_int_equal(gr_close(ctx), 0);
}

static void wrong_weights_change_nothing(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = model(ctx);
    float before[12 * 4], after[12 * 4];
    assert_true(gr_download(gr_parameter(net, 2), before));
    gr_module *other = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
    assert_true(gr_module_build(other, 1, (int64_t[]){7}));
    assert_true(gr_save_weights(other, path));
    assert_false(gr_load_weights(net, path));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    assert_non_null(strstr(gr_error_text(ctx), "conv1.weight"));
    gr_clear_error(ctx);
    gr_module *wider = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 4}), NULL);
    assert_true(gr_module_build(wider, 1, (int64_t[]){7}));
    assert_false(gr_load_weights(wider, path));
    assert_non_null(strstr(gr_error_text(ctx), "[3,7]"));
    assert_non_null(strstr(gr_error_text(ctx), "[4,7]"));
    gr_clear_error(ctx);
    assert_true(gr_download(gr_parameter(net, 2), after));
    assert_memory_equal(before, after, sizeof before);
    gr_close(ctx);
}

/* Values lie in the initialiser's interval, fill it, and are the same for any device and number of threads. */
static void first_values(void **state)
{
    (void)state;
    float kept[12 * 4];
    for (int threads = 1; threads <= 5; threads += 2) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 9, .threads = threads});
        gr_module *net = model(ctx);
        float w[12 * 4], b[4], conv[36], conv_bias[3];
        assert_true(gr_download(gr_parameter(net, 2), w));
        assert_true(gr_download(gr_parameter(net, 3), b));
        assert_true(gr_download(gr_parameter(net, 0), conv));
        assert_true(gr_download(gr_parameter(net, 1), conv_bias));
        double he = sqrt(6.0 / 12), kaiming = sqrt(1.0 / 12), largest = 0;
        for (int i = 0; i < 12 * 4; i++)
            largest = fmax(largest, fabs((double)w[i]));
        assert_true(largest <= he && largest > 0.8 * he);
        for (int i = 0; i < 4; i++)
            assert_true(b[i] == 0);
        for (int i = 0; i < 36; i++)
            assert_true(fabs((double)conv[i]) <= kaiming);
        assert_true(conv_bias[0] != 0 && fabs((double)conv_bias[0]) <= kaiming);
        if (threads > 1)
            assert_memory_equal(w, kept, sizeof w);
        memcpy(kept, w, sizeof w);
        assert_int_equal(gr_close(ctx), 0);
    }
    gr_context *ref = gr_open(&(gr_options){.seed = 9, .device = "ref"});
    double w[12 * 4];
    assert_true(gr_download(gr_parameter(model(ref), 2), w));
    for (int i = 0; i < 12 * 4; i++)
        assert_true((float)w[i] == kept[i]);
    gr_close(ref);
}

/* Of filters by dirac the first give the channels back; the others are drawn, within kaiming_uniform's limit. */
static void dirac_hands_channels_on(void **state)
{
    (void)state;
    enum { SIDE = 5, CHANNELS = 2, FILTERS = 3 };
    const gr_conv2d_options o = {.filters = FILTERS, .kernel_size = {3, 5}, .padding = GR_SAME, .init = GR_DIRAC};
    float x[SIDE * SIDE * CHANNELS], y[SIDE * SIDE * FILTERS], w[FILTERS * 3 * 5 * CHANNELS];
    gr_context *ctx = gr_open(&(gr_options){.seed = 4});
    gr_module *net = gr_sequential(ctx, gr_conv2d_layer(ctx, &o), gr_scale_layer(ctx, 0.25), NULL);
    gr_tensor *in = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){1, SIDE, SIDE, CHANNELS});
    for (int i = 0; i < SIDE * SIDE * CHANNELS; i++)
        x[i] = (float)(i * i % 17) - 3;
    gr_upload(in, x);
    assert_true(gr_download(gr_forward(net, in), y) && gr_download(gr_parameter(net, 0), w));
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int c = 0; c < CHANNELS; c++)
            assert_true(y[i * FILTERS + c] == 0.25f * x[i * CHANNELS + c]);
    double largest = 0;
    for (int i = CHANNELS * 3 * 5 * CHANNELS; i < FILTERS * 3 * 5 * CHANNELS; i++)
        largest = fmax(largest, fabs((double)w[i]));
    assert_true(largest <= sqrt(1.0 / 30) && largest > 0.8 * sqrt(1.0 / 30));
    gr_close(ctx);
}

static void scales_are_positive(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    for (int i = 0; i < 3; i++) {
        assert_null(gr_scale_layer(ctx, (double[]){0, -1, INFINITY}[i]));
        assert_non_null(strstr(gr_error_text(ctx), "it must be a positive number"));
        gr_clear_error(ctx);
    }
    gr_close(ctx);
}

/* A large parameter is drawn in slices and chunks; element i must not depend on them. */
static void slices_do_not_show(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 4});
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 7}), NULL);
    assert_true(gr_module_build(net, 1, (int64_t[]){300001}));
    int64_t count = gr_count(gr_parameter(net, 0));
    float *w = malloc((size_t)count * sizeof *w);
    assert_true(gr_download(gr_parameter(net, 0), w));
    double limit = sqrt(6.0 / (300001 + 7));
    for (int64_t i = 0; i < count; i += 9973) {
        double u = (double)gr__random_uniform(4, GR_RNG_INIT, 0, (uint64_t)i);
        assert_true(w[i] == (float)(limit * (2 * u - 1)));
    }
    free(w);
    gr_close(ctx);
}

/* Fused and unfused models compute the same answer and the same update, to rounding. */
static void fusion_changes_nothing(void **state)
{
    (void)state;
    float answer[2][3 * 2], updated[2][12 * 4];
    for (int apart = 0; apart < 2; apart++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 5, .no_fusion = apart});
        gr_module *net = model(ctx);
        float image[3 * 6 * 5 * 2];
        for (int i = 0; i < 3 * 6 * 5 * 2; i++)
            image[i] = gr__random_uniform(8, GR_RNG_PROCEDURAL, 0, (uint64_t)i);
        gr_tensor *x = gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){3, 6, 5, 2});
        gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){3});
        assert_true(gr_upload(x, image));
        gr_tensor *z = gr_forward(net, x);
        assert_true(gr_download(z, answer[apart]));
        gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.5});
        gr_tensor *loss = gr_softmax_cross_entropy(z, labels, NULL);
        if (apart)
            assert_true(gr_backward(loss) && gr_optimizer_step(sgd));
        else
            assert_true(gr_minimize(sgd, loss));
        assert_true(gr_download(gr_parameter(net, 2), updated[apart]));
        assert_int_equal(gr_close(ctx), 0);
    }
    for (int i = 0; i < 3 * 2; i++)
        assert_true(fabsf(answer[0][i] - answer[1][i]) < 1e-5f);
    for (int i = 0; i < 12 * 4; i++)
        assert_true(fabsf(updated[0][i] - updated[1][i]) < 1e-5f);
}

static void summary_of_the_published_network(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.plan_only = true});
    gr_module *net = gr_cats_vs_dogs_net(ctx);
    assert_true(gr_module_build(net, 3, (int64_t[]){200, 200, 3}));
    gr_summary_row rows[16];
    int n = gr_summary(net, rows, 16);
    assert_int_equal(n, 4);
    int64_t parameters = 0;
    for (int i = 0; i < n; i++)
        parameters += rows[i].parameters;
    assert_int_equal(parameters, 40961153); /* the count that the publication's framework prints */
    assert_string_equal(rows[0].name, "conv1+relu1+pool1");
    assert_string_equal(rows[0].op, "conv2d_relu_max_pool");
    for (int i = 0; i < n; i++) { /* a chain, which begins with the pictures */
        assert_int_equal(rows[i].inputs, 1);
        assert_int_equal(rows[i].input[0], i - 1);
    }
    assert_int_equal(rows[0].shape[0], 100);
    assert_int_equal(rows[0].shape[2], 32);
    assert_int_equal(rows[0].bytes, 100 * 100 * 32 * 5); /* the result and one byte of argmax; nothing of full size */
    assert_int_equal(rows[2].parameters, 320000 * 128 + 128);
    assert_true(rows[2].flops_forward == 2.0 * 320000 * 128 + 128);
    assert_true(rows[2].flops_backward == 4.0 * 320000 * 128 + 128);
    assert_true(gr_memory_use(ctx).step_peak < 1 << 24);
    assert_int_equal(gr_close(ctx), 0);
}

static void bad_models_are_refused(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    assert_null(gr_dense_layer(ctx, NULL));
    gr_clear_error(ctx);
    assert_null(gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4}));
    gr_clear_error(ctx);
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = 4}), NULL);
    assert_false(gr_module_build(net, 3, (int64_t[]){4, 4, 1}));
    assert_non_null(strstr(gr_error_text(ctx), "flatten"));
    gr_clear_error(ctx);
    net = gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 5}), NULL);
    assert_false(gr_module_build(net, 3, (int64_t[]){4, 4, 1}));
    assert_non_null(strstr(gr_error_text(ctx), "does not fit"));
    gr_clear_error(ctx);
    net = model(ctx);
    assert_null(gr_forward(net, gr_tensor_new(ctx, GR_F32, 4, (int64_t[]){1, 6, 5, 3})));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "conv1+relu1+pool1"));
    gr_close(ctx);
}

/* -log sigmoid of an infinite logit is 0 on the right side and infinite on the wrong one, as PyTorch has it. */
static void infinite_logits(void **state)
{
    (void)state;
    static const char *const devices[] = {"ref", "cpu", "simt"};
    const float logits[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    const int32_t labels[4] = {0, 1, 0, 1};
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < 4; i++) {
            gr_context *ctx = gr_open(&(gr_options){.device = devices[d], .precision = GR_PRECISION_FP32});
            gr_tensor *z = gr_tensor_new(ctx, GR_F32, 2, (int64_t[]){1, 1});
            gr_tensor *label = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){1});
            assert_true(gr_upload(z, &logits[i]) && gr_upload(label, &labels[i]));
            const double loss = gr_item(gr_sigmoid_bce(z, label, NULL));
            assert_true((logits[i] > 0) == (labels[i] == 1) ? loss == 0 : loss == (double)INFINITY);
            gr_close(ctx);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infinite_logits),
        cmocka_unit_test(layers_of_functions),
        cmocka_unit_test(names_in_layer_order),
        cmocka_unit_test(disk_order_is_pytorch),
        cmocka_unit_test(wrong_weights_change_nothing),
        cmocka_unit_test(first_values),
        cmocka_unit_test(dirac_hands_channels_on),
        cmocka_unit_test(scales_are_positive),
        cmocka_unit_test(slices_do_not_show),
        cmocka_unit_test(fusion_changes_nothing),
        cmocka_unit_test(summary_of_the_published_network),
        cmocka_unit_test(bad_models_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
