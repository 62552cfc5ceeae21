/*
 * test_whiten.c - filters made of training pictures: what a convolution by them gives is uncorrelated and of unit
 * second moment, but for epsilon; the second half are the negatives of the first; and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "gradus.h"

enum { SIDE = 10, PICTURES = 40, R = 2, S = 3, C = 3, D = R * S * C, PLACES = (SIDE - R + 1) * (SIDE - S + 1) };

static gr_module *filters(gr_context *ctx, int n)
{
    gr_module *net = gr_sequential(
        ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = n, .kernel_size = {R, S}, .no_bias = true}), NULL);
    gr_module_build(net, 3, (int64_t[]){SIDE, SIDE, C});
    return net;
}

/* Second moments of the answers to all patches. */
static void moments_of(gr_module *net, gr_dataset *set, double m[D][D])
{
    static double y[PICTURES * PLACES][2 * D];
    gr_batch batch;
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = PICTURES, .order = GR_IN_ORDER});
    assert_true(gr_loader_next(loader, &batch) && gr_download(gr_forward(net, batch.x), y));
    memset(m, 0, sizeof(double[D][D]));
    for (int n = 0; n < PICTURES * PLACES; n++)
        for (int i = 0; i < D; i++) {
            assert_true(y[n][D + i] == -y[n][i]);
            for (int j = 0; j < D; j++)
                m[i][j] += y[n][i] * y[n][j] / (PICTURES * PLACES);
        }
    gr_loader_close(loader);
}

static void answers_are_white(void **state)
{
    (void)state;
    const double epsilons[] = {1e-9, 0.05};
    double m[2][D][D], before[D][D];
    for (int e = 0; e < 2; e++) {
        gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 3});
        gr_dataset *set = gr_procedural(ctx, PICTURES, SIDE, SIDE, 1);
        gr_module *net = filters(ctx, 2 * D);
        assert_true(gr_whiten(net, "conv1.weight", set, &(gr_whiten_options){.epsilon = epsilons[e]}));
        moments_of(net, set, m[e]);
        assert_int_equal(gr_close(ctx), 0);
    }
    memcpy(before, m[1], sizeof before);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            assert_true(fabs(m[0][i][j] - (i == j)) < 1e-3);
            assert_true(i == j || fabs(m[1][i][j]) < 1e-9);
        }
    for (int i = 0; i < D; i++) /* l / (l + epsilon) falls with l */
        assert_true(before[i][i] > 0 && before[i][i] < 1 && (i == 0 || before[i][i] <= before[i - 1][i - 1] + 1e-12));
}

static void first_pictures_alone(void **state)
{
    (void)state;
    float w[3][2 * D * D];
    for (int k = 0; k < 3; k++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 3, .threads = k + 1});
        gr_dataset *set = gr_procedural(ctx, PICTURES, SIDE, SIDE, 1);
        const int64_t few[] = {0, 1, 2, 3, 4};
        gr_module *net = filters(ctx, 2 * D);
        assert_true(gr_whiten(net, "conv1.weight", k == 2 ? gr_dataset_select(set, 5, few) : set,
                              &(gr_whiten_options){.samples = k == 0 ? 0 : 5}));
        assert_true(gr_download(gr_parameter(net, 0), w[k]));
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_memory_not_equal(w[0], w[1], sizeof w[0]);
    assert_memory_equal(w[1], w[2], sizeof w[1]);
}

/* (M + epsilon 1)^-1 of the second moments M of patches, as filters have it: the sum of f f^T over their first half. */
static void inverse_of(gr_precision precision, double m[D][D])
{
    static float w[2 * D][D];
    gr_context *ctx = gr_open(&(gr_options){.seed = 3, .precision = precision});
    gr_module *net = filters(ctx, 2 * D);
    gr_dataset *set = gr_procedural(ctx, PICTURES, SIDE, SIDE, 1);
    assert_true(gr_whiten(net, "conv1.weight", set, &(gr_whiten_options){.epsilon = 0.05}));
    assert_true(gr_download(gr_parameter(net, 0), w));
    assert_int_equal(gr_close(ctx), 0);
    memset(m, 0, sizeof(double[D][D]));
    for (int k = 0; k < D; k++)
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                m[i][j] += (double)w[k][i] * (double)w[k][j];
}

static void pictures_in_halves(void **state)
{
    (void)state;
    double floats[D][D], halves[D][D];
    inverse_of(GR_PRECISION_FP32, floats);
    for (int bf16 = 0; bf16 < 2; bf16++) {
        inverse_of(bf16 ? GR_PRECISION_BF16 : GR_PRECISION_FP16, halves);
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                assert_true(fabs(halves[i][j] - floats[i][j]) < 0.01 * floats[i][i]);
    }
}

static void what_is_no_such_layer(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = gr_procedural(ctx, PICTURES, SIDE, SIDE, 1);
    gr_module *nets[] = {filters(ctx, 2 * D - 1), filters(ctx, 2 * D)};
    static const struct {
        int net;
        const char *name, *words;
        gr_whiten_options options;
    } cases[] = {{0, "conv1.weight", "there are 36: two for each of 18 axes", {0}},
                 {1, "conv2.weight", "no parameter \"conv2.weight\"", {0}},
                 {1, "conv1.weight", "both are at least 0", {.samples = -1}},
                 {1, "conv1.weight", "both are at least 0", {.epsilon = NAN}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(gr_whiten(nets[cases[i].net], cases[i].name, set, &cases[i].options));
        assert_non_null(strstr(gr_error_text(ctx), cases[i].words));
        gr_clear_error(ctx);
    }
    gr_module *dense =
        gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
    gr_module_build(dense, 3, (int64_t[]){SIDE, SIDE, C});
    assert_false(gr_whiten(dense, "dense1.weight", set, NULL));
    assert_non_null(strstr(gr_error_text(ctx), "no filters for pictures of 10x10x3"));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_white),
        cmocka_unit_test(first_pictures_alone),
        cmocka_unit_test(pictures_in_halves),
        cmocka_unit_test(what_is_no_such_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
