/*
 * test_measures.c - the gradient noise scale where it is known, and sharpness where it can be looked up: the measures
 * of large-batch training.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"
#include "gradus.h"

/* --- noise scale -------------------------------------------------------------------------------------------------- */

enum { FEATURES = 20, BIG = 32, SMALL = 8, UPDATES = 4000 };

/* Standard normal, number i of the stream. */
static double normal(uint64_t i)
{
    const double u = 1 - (double)gr__random_uniform(99, GR_RNG_PROCEDURAL, 1, 2 * i);
    const double v = (double)gr__random_uniform(99, GR_RNG_PROCEDURAL, 1, 2 * i + 1);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

static double norm_of(const double *g, double n)
{
    double sum = 0;
    for (int i = 0; i < FEATURES; i++)
        sum += g[i] / n * (g[i] / n);
    return sqrt(sum);
}

/*
 * Gradients of samples are drawn around a G of ones with deviations 1 to 2: |G|^2 = 20, tr(Sigma) is the sum of the
 * variances. The running mean over the last hundreds of updates comes within 5 per cent of both.
 */
static void noise_scale_of_known_gradients(void **state)
{
    (void)state;
    gr_noise noise = {0};
    double trace = 0, mean = 0;
    uint64_t at = 0;
    for (int i = 0; i < FEATURES; i++)
        trace += (1 + (double)i / FEATURES) * (1 + (double)i / FEATURES);
    for (int u = 0; u < UPDATES; u++) {
        double sum[FEATURES] = {0}, small = 0;
        for (int n = 0; n < BIG; n++) {
            for (int i = 0; i < FEATURES; i++)
                sum[i] += 1 + (1 + (double)i / FEATURES) * normal(at++);
            if (n == SMALL - 1)
                small = norm_of(sum, SMALL);
        }
        gr_noise_add(&noise, small, SMALL, norm_of(sum, BIG), BIG);
        if (u >= UPDATES / 2)
            mean += gr_noise_read(&noise).scale / (UPDATES - UPDATES / 2);
    }
    assert_true(fabs(mean / (trace / FEATURES) - 1) < 0.05);
    gr_noise_add(&noise, (double)INFINITY, SMALL, 1, BIG); /* an update that overflowed says nothing */
    assert_true(isfinite(gr_noise_read(&noise).scale));
    assert_true(isnan(gr_noise_read(&(gr_noise){0}).scale));
}

enum { IMAGES = 64, SIDE = 6, WEIGHTS = SIDE * SIDE * 3 * 2 + 2 };

static gr_module *linear_net(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
}

/* |G|^2 and tr(Sigma) of a set at the first weights, from every sample's own gradient. */
static void by_brute_force(double *gradient, double *trace)
{
    static double mean[WEIGHTS], squares[WEIGHTS];
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 3});
    gr_module *net = linear_net(ctx);
    gr_loader *loader = gr_loader_open(gr_procedural(ctx, IMAGES, SIDE, SIDE, 1),
                                       &(gr_loader_options){.batch = 1, .order = GR_IN_ORDER});
    gr_batch batch;
    memset(mean, 0, sizeof mean);
    memset(squares, 0, sizeof squares);
    while (gr_loader_next(loader, &batch)) {
        double g[WEIGHTS];
        gr_clear_gradients(ctx);
        assert_true(gr_backward(gr_loss(gr_forward(net, batch.x), &batch)));
        int64_t at = 0;
        for (int i = 0; i < gr_parameter_count(net); at += gr_count(gr_parameter(net, i)), i++)
            assert_true(gr_download(gr_grad(gr_parameter(net, i)), g + at));
        for (int i = 0; i < WEIGHTS; i++) {
            mean[i] += g[i] / IMAGES;
            squares[i] += g[i] * g[i];
        }
        gr_step_end(ctx);
    }
    *gradient = *trace = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        *gradient += mean[i] * mean[i];
        *trace += (squares[i] - IMAGES * mean[i] * mean[i]) / (IMAGES - 1);
    }
    assert_int_equal(gr_close(ctx), 0);
}

typedef struct {
    double gradient, noise; /* sums over the later epochs */
    int64_t epochs;
} readings;

static bool note_noise(void *user, const gr_progress *p)
{
    readings *r = user;
    if (p->epoch_end && p->epoch > 200) {
        r->gradient += p->noise.gradient;
        r->noise += p->noise.noise;
        r->epochs++;
    }
    return true;
}

/* gr_fit, at a rate that leaves the weights alone, finds what all samples' gradients say. Drawing without putting back
   takes
   tr(Sigma) / N off |G|^2. */
static void noise_scale_in_fit(void **state)
{
    (void)state;
    double gradient, trace;
    by_brute_force(&gradient, &trace);
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 3});
    gr_module *net = linear_net(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 1e-30});
    readings r = {0};
    gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    gr_fit(net, opt, split,
           &(gr_fit_options){
               .batch = 16, .micro_batch = 5, .epochs = 1500, .noise_scale = true, .report = note_noise, .user = &r});
    assert_int_equal(gr_close(ctx), 0);
    assert_true(fabs(r.noise / (double)r.epochs / trace - 1) < 0.05);
    assert_true(fabs(r.gradient / (double)r.epochs / (gradient - trace / IMAGES) - 1) < 0.05);
}

/* --- sharpness ---------------------------------------------------------------------------------------------------- */

/* Three weights, no bias: the loss is convex in them, so its maximum over a box lies in one of the 8 corners. */
static gr_module *three_weights(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1, .no_bias = true}), NULL);
}

static double worst_corner(gr_context *ctx, gr_module *net, gr_dataset *set, double epsilon)
{
    double w[3], at[3], worst = -1;
    gr_tensor *weight = gr_parameter(net, 0);
    assert_true(gr_download(weight, w));
    for (int corner = 0; corner < 8; corner++) {
        for (int i = 0; i < 3; i++)
            at[i] = w[i] + (corner >> i & 1 ? 1 : -1) * epsilon * (fabs(w[i]) + 1);
        assert_true(gr_upload(weight, at));
        worst = fmax(worst, gr_evaluate(net, set).loss);
    }
    assert_true(gr_upload(weight, w));
    assert_true(gr_ok(ctx));
    return worst;
}

static void sharpness_is_the_worst_corner(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref", .seed = 3});
    gr_module *net = three_weights(ctx);
    gr_dataset *set = gr_procedural(ctx, 30, 1, 1, 2);
    gr_module_build(net, 3, (int64_t[]){1, 1, 3});
    const double epsilons[] = {1e-3, 0.1, 0.5};
    for (int i = 0; i < 3; i++) {
        const double worst = worst_corner(ctx, net, set, epsilons[i]), loss = gr_evaluate(net, set).loss;
        double before[3], after[3];
        assert_true(gr_download(gr_parameter(net, 0), before));
        gr_sharpness s = gr_measure_sharpness(net, set, &(gr_sharpness_options){.epsilon = epsilons[i], .batch = 7});
        assert_true(gr_download(gr_parameter(net, 0), after));
        assert_memory_equal(before, after, sizeof before);
        assert_true(fabs(s.loss - loss) < 1e-12);
        assert_true(fabs(s.worst - worst) < 1e-12);
        assert_true(fabs(s.sharpness - 100 * (worst - loss) / (1 + loss)) < 1e-9);
    }
    gr_measure_sharpness(net, set, &(gr_sharpness_options){.epsilon = -1});
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_close(ctx);
}

static bool note_sharpness(void *user, const gr_progress *p)
{
    if (p->epoch_end)
        *(double *)user = p->sharp.sharpness;
    return true;
}

/* Measuring changes nothing: with batch normalisation and dropout a run ends in the same loss, to the bit. */
static void measuring_leaves_no_trace(void **state)
{
    (void)state;
    double loss[2], sharpness = 0;
    for (int measured = 0; measured < 2; measured++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 3});
        gr_module *net =
            gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 4, .kernel = 3}),
                          gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_flatten_layer(ctx),
                          gr_dropout_layer(ctx, 0.3), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
        gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9});
        gr_split split = {.train = gr_procedural(ctx, 40, SIDE, SIDE, 1),
                          .test = gr_procedural(ctx, 20, SIDE, SIDE, 2)};
        gr_fit_result r = gr_fit(net, opt, split,
                                 &(gr_fit_options){.batch = 12,
                                                   .epochs = 3,
                                                   .sharpness = measured ? 0.01 : 0,
                                                   .report = measured ? note_sharpness : NULL,
                                                   .user = &sharpness});
        loss[measured] = r.test.loss;
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_true(loss[0] == loss[1]);
    assert_true(sharpness > 0);
}

static void noise_scale_is_refused(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = linear_net(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, NULL);
    gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    gr_fit(net, opt, split, &(gr_fit_options){.batch = 8, .epochs = 1, .noise_scale = true});
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), "micro_batch"));
    gr_clear_error(ctx);
    gr_fit(net, opt, split, &(gr_fit_options){.batch = 1, .epochs = 1, .noise_scale = true});
    assert_non_null(strstr(gr_error_text(ctx), "ask for batches of 2 or more"));
    gr_clear_error(ctx);
    gr_module *penalised = gr_sequential(ctx, gr_flatten_layer(ctx),
                                         gr_dense_layer(ctx, &(gr_dense_options){.units = 2, .l2 = 0.1}), NULL);
    opt = gr_sgd(ctx, penalised, NULL);
    gr_fit(penalised, opt, split, &(gr_fit_options){.batch = 8, .micro_batch = 4, .epochs = 1, .noise_scale = true});
    assert_non_null(strstr(gr_error_text(ctx), "penalty on dense1.weight"));
    gr_close(ctx);
    ctx = gr_open(&(gr_options){.precision = GR_PRECISION_FP16});
    net = linear_net(ctx);
    split.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1);
    gr_fit(net, gr_sgd(ctx, net, NULL), split,
           &(gr_fit_options){.batch = 8, .micro_batch = 4, .epochs = 1, .noise_scale = true});
    assert_non_null(strstr(gr_error_text(ctx), "loss scale"));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_scale_of_known_gradients), cmocka_unit_test(noise_scale_in_fit),
        cmocka_unit_test(sharpness_is_the_worst_corner),  cmocka_unit_test(measuring_leaves_no_trace),
        cmocka_unit_test(noise_scale_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
