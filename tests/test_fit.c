/*
 * test_fit.c - optimizers and the fit loop: fused and plain updates, accumulation, stopping, numbers gone bad, same
 * bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"

enum { SIDE = 12, IMAGES = 60 };

static gr_module *small_net(gr_context *ctx)
{
    return gr_sequential(ctx,
                         gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 6, .kernel = 3, .init = GR_HE_UNIFORM}),
                         gr_relu_layer(ctx), gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 9, .init = GR_HE_UNIFORM}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* With a residual block: all kinds of reductions. */
static gr_module *normalised_net(gr_context *ctx)
{
    const gr_conv2d_options conv = {.filters = 20, .kernel = 3, .padding = GR_SAME, .no_bias = true};
    gr_module *body = gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), NULL);
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                         gr_residual(ctx, body, NULL), gr_max_pool2d_layer(ctx, 2), gr_global_avg_pool_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 9}), gr_relu_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

static gr_optimizer *optimizer(gr_context *ctx, gr_module *net, bool adam)
{
    return adam ? gr_adam(ctx, net, &(gr_adam_options){.lr = 0.01}) : gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.1});
}

/* All parameters one after the other, for the caller to free. */
static float *parameters(gr_module *net, int64_t *count)
{
    *count = 0;
    for (int i = 0; i < gr_parameter_count(net); i++)
        *count += gr_count(gr_parameter(net, i));
    float *all = malloc((size_t)*count * sizeof *all), *at = all;
    for (int i = 0; i < gr_parameter_count(net); at += gr_count(gr_parameter(net, i)), i++)
        assert_true(gr_download(gr_parameter(net, i), at));
    return all;
}

enum { OPTIMIZERS = 5 };

/* One of each way in which gr_minimize fuses, or must not. */
static gr_optimizer *optimizer_of(gr_context *ctx, gr_module *net, int kind)
{
    const gr_adam_args decay = {.weight_decay = 0.1, .decoupled = kind == 4};
    if (kind < 2)
        return optimizer(ctx, net, kind == 1);
    return kind == 2 ? gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.1, .weight_decay = 0.1})
                     : gr_adam(ctx, net, &(gr_adam_options){.lr = 0.01, .adam = decay});
}

/* Three updates by gr_minimize or by its two halves must leave the same weights, to rounding. */
static void minimize_is_backward_and_step(void **state)
{
    (void)state;
    for (int kind = 0; kind < OPTIMIZERS; kind++) {
        float *weights[2];
        int64_t count = 0;
        for (int apart = 0; apart < 2; apart++) {
            gr_context *ctx = gr_open(&(gr_options){.seed = 2});
            gr_module *net = small_net(ctx);
            gr_optimizer *opt = optimizer_of(ctx, net, kind);
            gr_loader *loader = gr_loader_open(gr_procedural(ctx, IMAGES, SIDE, SIDE, 1),
                                               &(gr_loader_options){.batch = 20, .order = GR_IN_ORDER});
            gr_batch batch;
            while (gr_loader_next(loader, &batch)) {
                gr_tensor *loss = gr_loss(gr_forward(net, batch.x), &batch);
                if (apart)
                    assert_true(gr_backward(loss) && gr_optimizer_step(opt));
                else
                    assert_true(gr_minimize(opt, loss));
                gr_step_end(ctx);
            }
            weights[apart] = parameters(net, &count);
            assert_int_equal(gr_close(ctx), 0);
        }
        for (int64_t i = 0; i < count; i++)
            assert_true(fabsf(weights[0][i] - weights[1][i]) < 1e-5f);
        free(weights[0]);
        free(weights[1]);
    }
}

enum { FILTERS = 256, CHANNELS = 32, WIDE = FILTERS * 9 * CHANNELS };

/* With a convolution whose weights are many enough to be stepped over behind its backward pass. */
static gr_module *wide_net(gr_context *ctx)
{
    const gr_conv2d_options narrow = {.filters = CHANNELS, .kernel = 3}, wide = {.filters = FILTERS, .kernel = 3};
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &narrow), gr_relu_layer(ctx), gr_conv2d_layer(ctx, &wide),
                         gr_relu_layer(ctx), gr_global_avg_pool_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

static gr_optimizer *wide_optimizer_of(gr_context *ctx, gr_module *net, int kind)
{
    const gr_sgd_options momentum = {.lr = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01};
    return kind == 0   ? gr_sgd(ctx, net, &momentum)
           : kind == 1 ? gr_adam(ctx, net, &(gr_adam_options){.lr = 0.01, .adam.weight_decay = 0.1})
                       : gr_lars(ctx, net, &(gr_lars_options){.lr = 0.1});
}

/* The same bits, and no gradient is kept; but where gradients have a norm together all wait for the end. */
static void a_step_follows_its_layer(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        float *weights[2];
        int64_t count = 0, held[2];
        const bool clipped = i >= 3;
        for (int apart = 0; apart < 2; apart++) {
            gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .seed = 2});
            gr_module *net = wide_net(ctx);
            gr_optimizer *opt = wide_optimizer_of(ctx, net, i % 3);
            assert_true(!clipped || gr_set_clip(opt, 0.01));
            gr_loader *loader = gr_loader_open(gr_procedural(ctx, IMAGES, SIDE, SIDE, 1),
                                               &(gr_loader_options){.batch = 20, .order = GR_IN_ORDER});
            gr_batch batch;
            while (gr_loader_next(loader, &batch)) {
                gr_tensor *loss = gr_loss(gr_forward(net, batch.x), &batch);
                assert_true(apart ? gr_backward(loss) && gr_optimizer_step(opt) : gr_minimize(opt, loss));
                gr_step_end(ctx);
            }
            held[apart] = gr_memory_use(ctx).persistent;
            weights[apart] = parameters(net, &count);
            assert_int_equal(gr_close(ctx), 0);
        }
        const uint64_t gradient = clipped ? 0 : WIDE * sizeof(float), up_to_pieces = clipped ? 0 : 4096;
        assert_in_range(held[1] - held[0], gradient, gradient + up_to_pieces);
        assert_memory_equal(weights[0], weights[1], (size_t)count * sizeof *weights[0]);
        free(weights[0]);
        free(weights[1]);
    }
}

/* Two halves of a batch, each backward, weigh as the whole: the update's weight is set before. */
static void micro_batches_add_up(void **state)
{
    (void)state;
    float *weights[2];
    int64_t count = 0;
    for (int split = 0; split < 2; split++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 2});
        gr_module *net = small_net(ctx);
        gr_optimizer *sgd = optimizer(ctx, net, false);
        gr_dataset *set = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1);
        gr_loader *loader =
            gr_loader_open(set, &(gr_loader_options){.batch = split ? IMAGES / 2 : IMAGES, .order = GR_IN_ORDER});
        gr_batch batch;
        while (gr_loader_next(loader, &batch)) {
            gr_set_update_weight(ctx, IMAGES);
            assert_true(gr_backward(gr_loss(gr_forward(net, batch.x), &batch)));
            gr_step_end(ctx);
        }
        assert_true(gr_optimizer_step(sgd));
        weights[split] = parameters(net, &count);
        assert_int_equal(gr_close(ctx), 0);
    }
    for (int64_t i = 0; i < count; i++)
        assert_true(fabsf(weights[0][i] - weights[1][i]) < 1e-6f);
    free(weights[0]);
    free(weights[1]);
}

/* Flatten, Dense 4 with or without a penalty, ReLU, Dense 2. */
static gr_module *penalised_net(gr_context *ctx, double l2)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 4, .l2 = l2}),
                         gr_relu_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
}

/* Sum of the squares of the first n weights. */
static double squares(const float *w, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)w[i] * w[i];
    return sum;
}

/* The penalty adds l2 * sum w^2 to every loss and 2 l2 w to the gradient of that weight alone, fused update or not. */
static void l2_penalty_is_in_loss_and_gradient(void **state)
{
    (void)state;
    const double l2 = 0.05, lr = 0.1;
    const int64_t penalised = SIDE * SIDE * 3 * 4;
    for (int apart = 0; apart < 2; apart++) {
        float *before = NULL, *after[2];
        int64_t count = 0;
        double loss[2], evaluated[2];
        for (int with = 0; with < 2; with++) {
            gr_context *ctx = gr_open(&(gr_options){.seed = 2});
            gr_module *net = penalised_net(ctx, with ? l2 : 0);
            gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = lr});
            gr_dataset *set = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1);
            evaluated[with] = gr_evaluate(net, set).loss;
            free(before);
            before = parameters(net, &count);
            gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = IMAGES, .order = GR_IN_ORDER});
            gr_batch batch;
            assert_true(gr_loader_next(loader, &batch));
            gr_tensor *l = gr_add_penalty(net, gr_loss(gr_forward(net, batch.x), &batch));
            assert_true(apart ? gr_backward(l) && gr_optimizer_step(sgd) : gr_minimize(sgd, l));
            loss[with] = gr_item(l);
            gr_step_end(ctx);
            after[with] = parameters(net, &count);
            assert_int_equal(gr_close(ctx), 0);
        }
        assert_true(fabs(loss[1] - loss[0] - l2 * squares(before, penalised)) < 1e-5);
        assert_true(fabs(evaluated[1] - evaluated[0] - l2 * squares(before, penalised)) < 1e-5);
        for (int64_t i = 0; i < count; i++) {
            double shrunk = i < penalised ? lr * 2 * l2 * before[i] : 0;
            assert_true(fabs(after[0][i] - after[1][i] - shrunk) < 1e-6);
        }
        free(before);
        free(after[0]);
        free(after[1]);
    }
}

/* What gr_fit reports is what it minimises. */
static void fit_reports_the_penalty(void **state)
{
    (void)state;
    double train[2], test[2];
    for (int with = 0; with < 2; with++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 2});
        gr_split split = gr_split_per_class(gr_procedural(ctx, 200, SIDE, SIDE, 1), 60, 0, 20);
        gr_module *net = penalised_net(ctx, with ? 1 : 0);
        gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 1e-9});
        gr_fit_result result = gr_fit(net, sgd, split, &(gr_fit_options){.batch = 30, .epochs = 1});
        int64_t count;
        float *w = parameters(net, &count);
        train[with] = result.train_loss - with * squares(w, SIDE * SIDE * 3 * 4);
        test[with] = result.test.loss - with * squares(w, SIDE * SIDE * 3 * 4);
        free(w);
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_true(fabs(train[0] - train[1]) < 1e-4 && fabs(test[0] - test[1]) < 1e-4);
}

static void l2_must_be_a_number_of_at_least_0(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        gr_context *ctx = gr_open(NULL);
        assert_null(penalised_net(ctx, (double[]){-0.01, NAN, INFINITY}[i]));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "l2"));
        gr_close(ctx);
    }
}

static gr_fit_result fit(gr_context *ctx, gr_module *net, bool adam, const gr_fit_options *options)
{
    gr_split split = gr_split_per_class(gr_procedural(ctx, 200, SIDE, SIDE, 1), 60, 20, 20);
    return gr_fit(net, optimizer(ctx, net, adam), split, options);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 5, 16};
    float *kept = NULL;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 3, .threads = threads[i]});
        gr_module *net = normalised_net(ctx);
        gr_fit_result r = fit(ctx, net, true, &(gr_fit_options){.batch = 16, .epochs = 2});
        assert_int_equal(r.updates, 2 * 8);
        assert_int_equal(r.samples, 2 * 120);
        assert_int_equal(r.test.samples, 40);
        int64_t count;
        float *weights = parameters(net, &count);
        if (kept)
            assert_memory_equal(kept, weights, (size_t)count * sizeof *weights);
        free(kept);
        kept = weights;
        assert_int_equal(gr_close(ctx), 0);
    }
    free(kept);
}

/* The drawn set is learnable: after a few epochs the training loss is well below ln 2. */
static void training_learns(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_module *net = small_net(ctx);
    gr_fit_result r = fit(ctx, net, true, &(gr_fit_options){.batch = 10, .epochs = 30});
    assert_true(r.train_loss < 0.45);
    assert_true(r.train_accuracy > 0.75);
    assert_int_equal(gr_close(ctx), 0);
}

static bool stop_at_five(void *user, const gr_progress *p)
{
    ++*(int *)user;
    return p->update < 5;
}

static void the_report_can_stop(void **state)
{
    (void)state;
    int calls = 0;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = small_net(ctx);
    gr_fit_options o = {.batch = 16, .epochs = 10, .report = stop_at_five, .user = &calls};
    gr_fit_result r = fit(ctx, net, false, &o);
    assert_true(r.stopped);
    assert_int_equal(r.updates, 5);
    assert_int_equal(calls, 6); /* five updates and the end of the epoch */
    assert_int_equal(gr_close(ctx), 0);
}

static void numbers_gone_bad_are_named(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = small_net(ctx);
    gr_split split = {.train = gr_procedural(ctx, 200, SIDE, SIDE, 1)};
    gr_fit(net, gr_sgd(ctx, net, &(gr_sgd_options){.lr = 1e30}), split, &(gr_fit_options){.batch = 16, .epochs = 3});
    assert_int_equal(gr_error_code(ctx), GR_NUMERIC);
    assert_non_null(strstr(gr_error_text(ctx), "learning rate"));
    gr_close(ctx);
}

/* The loss of the only update is that of the first weights; what the update made of them only an evaluation shows. */
static void the_last_update_is_checked(void **state)
{
    (void)state;
    for (int with_val = 0; with_val < 2; with_val++) {
        gr_context *ctx = gr_open(NULL);
        gr_module *net = small_net(ctx);
        gr_dataset *all = gr_procedural(ctx, 200, SIDE, SIDE, 1);
        gr_split split = {.train = all, .val = with_val ? all : NULL, .test = with_val ? NULL : all};
        gr_fit_result r = gr_fit(net, gr_sgd(ctx, net, &(gr_sgd_options){.lr = 1e30}), split,
                                 &(gr_fit_options){.batch = 16, .updates = 1});
        assert_int_equal(gr_error_code(ctx), GR_NUMERIC);
        assert_non_null(strstr(gr_error_text(ctx), with_val ? "validation set" : "test set"));
        assert_true(isfinite(r.train_loss));
        assert_int_equal(r.updates, 1);
        assert_int_equal(r.val.samples + r.test.samples, 0);
        gr_close(ctx);
    }
}

/* Where nothing is evaluated the weights are looked at; on the reference they are doubles. */
static void the_last_weights_are_checked(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool bad = i % 2;
        gr_context *ctx = gr_open(&(gr_options){.device = i < 2 ? "cpu" : "ref"});
        gr_module *net = small_net(ctx);
        gr_split split = {.train = gr_procedural(ctx, 200, SIDE, SIDE, 1)};
        gr_optimizer *sgd =
            gr_sgd(ctx, net, &(gr_sgd_options){.lr = bad ? 1e10 : 0.1, .weight_decay = bad ? 1e308 : 0});
        gr_fit_result r = gr_fit(net, sgd, split, &(gr_fit_options){.batch = 16, .updates = 1});
        assert_true(isfinite(r.train_loss));
        assert_int_equal(gr_error_code(ctx), bad ? GR_NUMERIC : 0);
        assert_true(!bad || strstr(gr_error_text(ctx), "weights are not finite behind update 1"));
        gr_close(ctx);
    }
}

/*
 * SGD with momentum, Nesterov and decay against the formula, from the gradients that backward leaves; gr_minimize must
 * give the same, although it fuses nothing of layers as small as these then.
 */
static void momentum_follows_its_formula(void **state)
{
    (void)state;
    enum { UPDATES = 4, MAX = 4096 };
    const double lr = 0.05, mu = 0.9, decay = 0.01;
    static double p[MAX], v[MAX];
    float *by_step = NULL;
    int64_t count = 0;
    for (int minimize = 0; minimize < 2; minimize++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 2});
        gr_module *net = small_net(ctx);
        gr_optimizer *sgd =
            gr_sgd(ctx, net, &(gr_sgd_options){.lr = lr, .momentum = mu, .nesterov = true, .weight_decay = decay});
        gr_loader *loader = gr_loader_open(gr_procedural(ctx, IMAGES, SIDE, SIDE, 1),
                                           &(gr_loader_options){.batch = 15, .order = GR_IN_ORDER});
        gr_batch batch;
        for (int update = 0; update < UPDATES; update++) {
            assert_true(gr_loader_next(loader, &batch));
            gr_tensor *loss = gr_loss(gr_forward(net, batch.x), &batch);
            if (update == 0 && !minimize) {
                float *start = parameters(net, &count);
                assert_in_range(count, 1, MAX);
                for (int64_t i = 0; i < count; i++)
                    p[i] = (double)start[i];
                free(start);
            }
            if (minimize) {
                assert_true(gr_minimize(sgd, loss));
            } else {
                assert_true(gr_backward(loss));
                double *at_p = p, *at_v = v;
                for (int k = 0; k < gr_parameter_count(net); k++) {
                    float g[MAX];
                    int64_t n = gr_count(gr_parameter(net, k));
                    assert_true(gr_download(gr_grad(gr_parameter(net, k)), g));
                    for (int64_t i = 0; i < n; i++, at_p++, at_v++) {
                        const double grad = (double)g[i] + decay * *at_p;
                        *at_v = mu * *at_v + grad;
                        *at_p -= lr * (grad + mu * *at_v);
                    }
                }
                assert_true(gr_optimizer_step(sgd));
            }
            gr_step_end(ctx);
        }
        float *got = parameters(net, &count);
        for (int64_t i = 0; i < count; i++) {
            assert_true(fabs((double)got[i] - p[i]) < 1e-5);
            if (minimize)
                assert_true(fabsf(got[i] - by_step[i]) < 1e-6f);
        }
        free(by_step);
        by_step = got;
        assert_int_equal(gr_close(ctx), 0);
    }
    free(by_step);
}

/* Values of torch.optim.lr_scheduler.CosineAnnealingLR and StepLR. */
static void schedules_have_their_values(void **state)
{
    (void)state;
    const gr_schedule cosine = {.kind = GR_COSINE, .lr_min = 0.02},
                      steps = {.kind = GR_STEPS, .every = 3, .gamma = 0.5};
    assert_true(fabs(gr_scheduled_lr(&cosine, 0.1, 0, 40, 10) - 0.1) < 1e-15);
    assert_true(fabs(gr_scheduled_lr(&cosine, 0.1, 10, 40, 10) - (0.02 + 0.08 * (1 + sqrt(0.5)) / 2)) < 1e-15);
    assert_true(fabs(gr_scheduled_lr(&cosine, 0.1, 20, 40, 10) - 0.06) < 1e-15);
    assert_true(fabs(gr_scheduled_lr(&cosine, 0.1, 40, 40, 10) - 0.02) < 1e-15);
    assert_true(gr_scheduled_lr(&steps, 0.8, 29, 100, 10) == 0.8);
    assert_true(gr_scheduled_lr(&steps, 0.8, 30, 100, 10) == 0.4);
    assert_true(gr_scheduled_lr(&steps, 0.8, 60, 100, 10) == 0.2);
    const gr_schedule triangle = {.kind = GR_LINEAR, .lr_min = 0.1, .warm_up = 1, .warm_up_from = 0.2};
    assert_true(fabs(gr_scheduled_lr(&triangle, 1, 0, 40, 10) - (0.2 + 0.8 * 0.1)) < 1e-15);
    assert_true(fabs(gr_scheduled_lr(&triangle, 1, 9, 40, 10) - 1) < 1e-15);
    assert_true(fabs(gr_scheduled_lr(&triangle, 1, 25, 40, 10) - (0.1 + 0.9 * 0.5)) < 1e-15);
    assert_true(gr_scheduled_lr(&(gr_schedule){0}, 0.8, 60, 100, 10) == 0.8);
    assert_true(fabs(gr_scheduled_lr(&(gr_schedule){.kind = GR_STEPS}, 1, 30, 100, 1) - 0.1) < 1e-15);
}

/*
 * A decay next to 1 holds the weights where they are once it has grown. In a second run with the same optimizer it
 * grows anew: its first update moves them.
 */
static void lookahead_grows_in_every_run(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = small_net(ctx);
    gr_optimizer *sgd = optimizer(ctx, net, false);
    assert_true(gr_set_lookahead(sgd, &(gr_lookahead){.every = 1, .decay = 1 - 1e-12, .grows = true}));
    gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
    int64_t count = 0;
    float *weights[3];
    for (int run = 0; run < 3; run++) {
        gr_fit(net, sgd, split, &(gr_fit_options){.batch = 30, .epochs = 1, .order = GR_IN_ORDER});
        assert_true(gr_ok(ctx));
        weights[run] = parameters(net, &count);
    }
    for (int run = 1; run < 3; run++) {
        double moved = 0;
        for (int64_t i = 0; i < count; i++)
            moved = fmax(moved, fabs((double)(weights[run][i] - weights[run - 1][i])));
        assert_true(moved > 1e-4);
    }
    for (int run = 0; run < 3; run++)
        free(weights[run]);
    assert_int_equal(gr_close(ctx), 0);
}

/*
 * A rate that falls to almost nothing at once must leave other weights than one that stays; the optimizer's own comes
 * back.
 */
static void fit_follows_the_schedule(void **state)
{
    (void)state;
    float *weights[3];
    int64_t count = 0;
    for (int run = 0; run < 3; run++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 2});
        gr_module *net = small_net(ctx);
        gr_optimizer *sgd = optimizer(ctx, net, false);
        gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
        gr_fit_options o = {.batch = 30, .epochs = run == 2 ? 1 : 2, .order = GR_IN_ORDER};
        if (run == 1)
            o.schedule = (gr_schedule){.kind = GR_STEPS, .every = 1, .gamma = 1e-12};
        gr_fit(net, sgd, split, &o);
        weights[run] = parameters(net, &count);
        assert_int_equal(gr_close(ctx), 0);
    }
    double moved = 0;
    for (int64_t i = 0; i < count; i++) {
        assert_true(fabsf(weights[1][i] - weights[2][i]) < 1e-7f); /* nothing after the first epoch */
        moved = fmax(moved, fabs((double)(weights[0][i] - weights[1][i])));
    }
    assert_true(moved > 1e-4);
    for (int run = 0; run < 3; run++)
        free(weights[run]);
}

/* After the first update: a rate of next to nothing, set by hand. */
static bool stop_moving(void *user, const gr_progress *p)
{
    return p->epoch_end || p->update > 1 || gr_set_lr(user, 1e-12);
}

/*
 * What the report sets stays set, in a run of constant rate and after it; a step schedule may fall to 0 without an
 * error.
 */
static void the_rate_is_the_callers(void **state)
{
    (void)state;
    float *weights[3];
    int64_t count = 0;
    for (int run = 0; run < 3;
         run++) { /* one update; four, slowed by hand; four, slowed by a schedule that underflows */
        gr_context *ctx = gr_open(&(gr_options){.seed = 2});
        gr_module *net = small_net(ctx);
        gr_optimizer *sgd = optimizer(ctx, net, false);
        gr_split split = {.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)};
        gr_fit_options o = {.batch = IMAGES, .epochs = run == 0 ? 1 : 4, .order = GR_IN_ORDER};
        if (run == 1) {
            o.report = stop_moving;
            o.user = sgd;
        } else if (run == 2) {
            o.schedule = (gr_schedule){.kind = GR_STEPS, .every = 1, .gamma = 1e-200};
        }
        assert_int_equal(gr_fit(net, sgd, split, &o).updates, o.epochs);
        if (run == 1) { /* the next run goes on from there */
            o.report = NULL;
            gr_fit(net, sgd, split, &o);
        }
        weights[run] = parameters(net, &count);
        assert_int_equal(gr_close(ctx), 0);
    }
    for (int64_t i = 0; i < count; i++) {
        assert_true(fabsf(weights[1][i] - weights[0][i]) < 1e-7f);
        assert_true(fabsf(weights[2][i] - weights[0][i]) < 1e-7f);
    }
    for (int run = 0; run < 3; run++)
        free(weights[run]);
}

/* What a run was told of how many updates it will make, and how long it was. */
static bool keep_told(void *user, const gr_progress *p)
{
    *(gr_progress *)user = *p;
    return true;
}

/* Whatever becomes of the last batch, the schedule knows the update by which a number of samples is reached. */
static void a_run_ends_by_samples(void **state)
{
    (void)state;
    const gr_last_batch policies[] = {GR_KEEP, GR_DROP, GR_PAD, GR_WRAP};
    const int64_t budgets[] = {1, 49, 50, 51, 99, 100, 101, 119, 120, 121, 170, 240, 301};
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof budgets / sizeof *budgets; k++) {
            gr_context *ctx = gr_open(NULL);
            gr_progress told = {0};
            const gr_fit_options o = {
                .batch = 50, .samples = budgets[k], .last = policies[i], .report = keep_told, .user = &told};
            const gr_fit_result r = fit(ctx, small_net(ctx), false, &o); /* of 120 samples */
            assert_true(r.samples >= budgets[k] && r.samples - budgets[k] < 50);
            assert_int_equal(told.updates, r.updates);
            assert_int_equal(gr_close(ctx), 0);
        }
}

/* Behind the first update at which they have passed; nothing is said of a number of updates. */
static void a_run_ends_by_seconds(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_progress told = {0};
    const gr_fit_options o = {.batch = 50, .seconds = 0.02, .report = keep_told, .user = &told};
    const gr_fit_result r = fit(ctx, small_net(ctx), false, &o);
    assert_true(r.seconds >= 0.02 && r.updates > 0 && told.updates == 0);
    assert_true(told.epoch_end && r.test.samples > 0);
    assert_int_equal(gr_close(ctx), 0);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_module *net = small_net(ctx);
    for (int i = 0; i < 3; i++) {
        assert_null(gr_sgd(ctx, net, &(gr_sgd_options){.lr = (double[]){-1, NAN, INFINITY}[i]}));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    assert_null(gr_adam(ctx, net, &(gr_adam_options){.adam = {.beta1 = 1}}));
    gr_clear_error(ctx);
    assert_null(gr_adam(ctx, net, &(gr_adam_options){.adam = {.weight_decay = -1}}));
    gr_clear_error(ctx);
    const gr_sgd_options bad_sgd[] = {{.momentum = 1}, {.nesterov = true}, {.weight_decay = -1}};
    for (size_t i = 0; i < sizeof bad_sgd / sizeof *bad_sgd; i++) {
        assert_null(gr_sgd(ctx, net, &bad_sgd[i]));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    gr_fit_options bad[] = {{.batch = 0, .epochs = 1},
                            {.batch = 4},
                            {.batch = 4, .epochs = -1},
                            {.batch = 4, .epochs = 1, .samples = -1},
                            {.batch = 4, .seconds = NAN},
                            {.batch = 4, .seconds = 1, .schedule = {.kind = GR_COSINE}},
                            {.seconds = 1, .n_stages = 1, .stages = &(gr_batch_stage){0, 4}},
                            {.batch = 121, .epochs = 1},
                            {.batch = 121, .samples = 1, .last = GR_DROP},
                            {.batch = 4, .epochs = 1, .schedule = {.warm_up_from = 1.5}},
                            {.batch = 4, .epochs = 1, .label_smoothing = 1},
                            {.batch = 4, .epochs = 1, .label_smoothing = 0.1}, /* of one logit */
                            {.batch = 4, .epochs = 1, .schedule = {.kind = GR_STEPS, .gamma = -1}},
                            {.batch = 40, .epochs = 3, .schedule = {.kind = GR_STEPS, .every = 1, .gamma = 1e300}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fit(ctx, net, false, &bad[i]);
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    assert_false(gr_optimizer_step(gr_sgd(ctx, small_net(ctx), NULL))); /* nothing built yet */
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_close(ctx);
}

/* Out of memory is known before the first update. */
static void memory_is_planned_first(void **state)
{
    (void)state;
    int calls = 0;
    gr_context *ctx = gr_open(&(gr_options){.memory_limit = 100000});
    gr_module *net = small_net(ctx);
    gr_fit_options o = {.batch = 64, .epochs = 1, .report = stop_at_five, .user = &calls};
    fit(ctx, net, true, &o);
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    assert_int_equal(calls, 0);
    gr_close(ctx);
}

/* The loss is linear in the smoothing, in training and in evaluation, where no weight moves. */
static void labels_are_smoothed(void **state)
{
    (void)state;
    const double smoothing[] = {0, 0.3, 0.6};
    double train[3], test[3];
    for (int i = 0; i < 3; i++) {
        gr_context *ctx = gr_open(&(gr_options){.seed = 1});
        gr_split split = gr_split_per_class(gr_table_classes(ctx, 60, 8, 1), 20, 0, 10);
        gr_module *net =
            gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 5}), NULL);
        gr_module_build(net, 3, (int64_t[]){1, 8, 1});
        gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 1e-30});
        gr_fit_result result =
            gr_fit(net, sgd, split,
                   &(gr_fit_options){.batch = 8, .micro_batch = 3, .epochs = 1, .label_smoothing = smoothing[i]});
        train[i] = result.train_loss;
        test[i] = result.test.loss;
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_true(fabs(train[2] - train[0]) > 0.01 && fabs(train[1] - (train[0] + train[2]) / 2) < 1e-5);
    assert_true(fabs(test[2] - test[0]) > 0.01 && fabs(test[1] - (test[0] + test[2]) / 2) < 1e-5);
}

/* Labels that the model has no answer for are refused before a weight has moved. */
static void labels_without_an_answer(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    gr_dataset *set = gr_table_classes(ctx, 60, 8, 1); /* of two classes */
    gr_module *net =
        gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
    gr_module_build(net, 3, (int64_t[]){1, 8, 1});
    gr_optimizer *opt = gr_sgd(ctx, net, NULL);
    gr_batch batch;
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 10});
    assert_true(gr_loader_next(loader, &batch));
    assert_int_equal(batch.classes, 2);
    batch.classes = 3;
    int64_t count;
    float *before = parameters(net, &count);
    assert_false(gr_minimize(opt, gr_loss(gr_forward(net, batch.x), &batch)));
    assert_non_null(strstr(gr_error_text(ctx), "the set has 3 classes, the model's answer is for 2"));
    gr_clear_error(ctx);
    float *after = parameters(net, &count);
    assert_memory_equal(before, after, (size_t)count * sizeof *before);
    free(before);
    free(after);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_smoothed),           cmocka_unit_test(labels_without_an_answer),
        cmocka_unit_test(minimize_is_backward_and_step), cmocka_unit_test(a_step_follows_its_layer),
        cmocka_unit_test(micro_batches_add_up),          cmocka_unit_test(l2_penalty_is_in_loss_and_gradient),
        cmocka_unit_test(fit_reports_the_penalty),       cmocka_unit_test(l2_must_be_a_number_of_at_least_0),
        cmocka_unit_test(same_bits_for_any_threads),     cmocka_unit_test(training_learns),
        cmocka_unit_test(the_report_can_stop),           cmocka_unit_test(numbers_gone_bad_are_named),
        cmocka_unit_test(momentum_follows_its_formula),  cmocka_unit_test(schedules_have_their_values),
        cmocka_unit_test(fit_follows_the_schedule),      cmocka_unit_test(lookahead_grows_in_every_run),
        cmocka_unit_test(the_rate_is_the_callers),       cmocka_unit_test(a_run_ends_by_samples),
        cmocka_unit_test(a_run_ends_by_seconds),         cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(the_last_update_is_checked),    cmocka_unit_test(the_last_weights_are_checked),
        cmocka_unit_test(memory_is_planned_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
