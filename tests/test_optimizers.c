/*
 * test_optimizers.c - 50 updates by each optimizer and under each schedule, from the same weights, against PyTorch's
 * (trajectory/make_optimizers.py); what SAM does to statistics; what optimizers refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"
#include "tests/trajectory/optimizers.h"

enum { UPDATES = 50, ROWS = 8, FEATURES = 5, HIDDEN = 7, CLASSES = 3, WEIGHTS = 66, PER_EPOCH = 10 };

/* --- the problem, formula by formula that of make_optimizers.py --------------------------------------------------- */

static gr_module *network(gr_context *ctx)
{
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = HIDDEN}), gr_tanh_layer(ctx),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = CLASSES}), NULL);
    gr_module_build(net, 1, (int64_t[]){FEATURES});
    return net;
}

static void put(gr_tensor *t, const double *values)
{
    float as_float[WEIGHTS];
    for (int64_t i = 0; i < gr_count(t); i++)
        as_float[i] = (float)values[i];
    assert_true(gr_upload(t, gr_type_of(t) == GR_F64 ? (const void *)values : as_float));
}

static void get(gr_tensor *t, double *values)
{
    float as_float[WEIGHTS];
    assert_true(gr_download(t, gr_type_of(t) == GR_F64 ? (void *)values : as_float));
    for (int64_t i = 0; i < gr_count(t) && gr_type_of(t) == GR_F32; i++)
        values[i] = (double)as_float[i];
}

static void set_weights(gr_module *net)
{
    double values[WEIGHTS];
    int at = 0;
    for (int i = 0; i < gr_parameter_count(net); i++) {
        for (int64_t j = 0; j < gr_count(gr_parameter(net, i)); j++)
            values[j] = 0.6 * sin(++at);
        put(gr_parameter(net, i), values);
    }
    assert_int_equal(at, WEIGHTS);
}

static void set_batch(gr_tensor *x, gr_tensor *labels, int update)
{
    double rows[ROWS * FEATURES];
    int32_t classes[ROWS];
    for (int n = 0; n < ROWS; n++) {
        classes[n] = (update * update + 2 * n) % CLASSES;
        for (int i = 0; i < FEATURES; i++)
            rows[n * FEATURES + i] = sin(1 + 0.7 * update + 1.3 * n + 2.1 * i + 0.5 * n * i);
    }
    put(x, rows);
    assert_true(gr_upload(labels, classes));
}

/* A network, an optimizer and the batch they see. */
typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    gr_tensor *x, *labels;
} setting;

static setting open_setting(const char *device)
{
    setting s = {.ctx = gr_open(&(gr_options){.device = device})};
    s.net = network(s.ctx);
    s.x = gr_tensor_new(s.ctx, gr_real(s.ctx), 2, (int64_t[]){ROWS, FEATURES});
    s.labels = gr_tensor_new(s.ctx, GR_I32, 1, (int64_t[]){ROWS});
    set_weights(s.net);
    return s;
}

/* All passes of update number u; the loss before it. */
static double update(const setting *s, int u, bool fused)
{
    double before = 0;
    set_batch(s->x, s->labels, u);
    for (int pass = 0; pass < gr_optimizer_passes(s->opt); pass++) {
        gr_tensor *loss = gr_softmax_cross_entropy(gr_forward(s->net, s->x), s->labels, NULL);
        before = pass == 0 ? gr_item(loss) : before;
        assert_true(fused ? gr_minimize(s->opt, loss) : gr_backward(loss) && gr_optimizer_step(s->opt));
    }
    gr_step_end(s->ctx);
    return before;
}

static void assert_near(const char *what, int i, double ours, double theirs, double relative)
{
    if (fabs(ours - theirs) > relative * fabs(theirs))
        fail_msg("%s: number %d is %.17g, PyTorch's %.17g: %.2e apart", what, i, ours, theirs, fabs(ours / theirs - 1));
}

/* --- optimizers --------------------------------------------------------------------------------------------------- */

static gr_optimizer *sgd(const setting *s, double lr, double momentum, double decay)
{
    return gr_sgd(s->ctx, s->net, &(gr_sgd_options){.lr = lr, .momentum = momentum, .weight_decay = decay});
}

static gr_optimizer *adam(const setting *s, double decay, bool decoupled)
{
    gr_adam_args args = {.form = GR_ADAM_PYTORCH, .weight_decay = decay, .decoupled = decoupled};
    return gr_adam(s->ctx, s->net, &(gr_adam_options){.lr = 0.02, .adam = args});
}

static gr_optimizer *muon(const setting *s, bool normalised)
{
    return gr_muon(s->ctx, s->net,
                   &(gr_muon_options){.lr = 0.05,
                                      .momentum = 0.9,
                                      .rest_momentum = 0.8,
                                      .weight_decay = 0.02,
                                      .steps = normalised ? 3 : 5,
                                      .normalise = normalised});
}

static gr_optimizer *optimizer_named(const setting *s, const char *name)
{
    gr_optimizer *opt = !strcmp(name, "sgd")                                 ? sgd(s, 0.2, 0, 0)
                        : !strcmp(name, "momentum") || !strcmp(name, "sam")  ? sgd(s, 0.1, 0.9, 0)
                        : !strcmp(name, "momentum_groups")                   ? sgd(s, 0.1, 0.9, 0.05)
                        : !strcmp(name, "clip")                              ? sgd(s, 0.2, 0.9, 0)
                        : !strcmp(name, "adam") || !strcmp(name, "sam_adam") ? adam(s, 0, false)
                        : !strcmp(name, "adam_decay")                        ? adam(s, 0.05, false)
                        : !strncmp(name, "adamw", 5)                         ? adam(s, 0.1, true)
                                                                             : NULL;
    if (!strcmp(name, "nesterov_decay"))
        opt = gr_sgd(s->ctx, s->net,
                     &(gr_sgd_options){.lr = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.02});
    else if (!strcmp(name, "keras_adam"))
        opt = gr_adam(s->ctx, s->net, &(gr_adam_options){.lr = 0.02});
    else if (!strcmp(name, "lars"))
        opt = gr_lars(s->ctx, s->net, &(gr_lars_options){0.5, {.momentum = 0.9, .weight_decay = 0.01, .trust = 0.02}});
    else if (!strcmp(name, "prox"))
        opt = gr_prox(s->ctx, s->net, &(gr_prox_options){.lr = 0.1, .gamma = 2, .steps = 4});
    else if (!strncmp(name, "muon", 4))
        opt = muon(s, !strcmp(name, "muon_normalised"));
    if (strstr(name, "groups"))
        gr_set_decay_weights_only(opt, true);
    if (!strcmp(name, "clip"))
        gr_set_clip(opt, 0.3);
    if (!strncmp(name, "sam", 3))
        gr_set_sam(opt, 0.2);
    assert_non_null(opt);
    return opt;
}

static void follow(const char *device, int which, bool fused, double relative)
{
    const char *name = optimizer_goldens[which].name;
    setting s = open_setting(device);
    s.opt = optimizer_named(&s, name);
    for (int u = 0; u < UPDATES; u++)
        assert_near(name, u, update(&s, u, fused), optimizer_goldens[which].loss[u], relative);
    double values[WEIGHTS], norm = 0, distance = 0;
    const double *theirs = optimizer_goldens[which].weights;
    for (int i = 0; i < gr_parameter_count(s.net); i++) {
        get(gr_parameter(s.net, i), values);
        for (int64_t j = 0; j < gr_count(gr_parameter(s.net, i)); j++, theirs++) {
            distance += (values[j] - *theirs) * (values[j] - *theirs);
            norm += *theirs * *theirs;
        }
    }
    assert_near(name, UPDATES, 1 + sqrt(distance / norm), 1, relative); /* the weights at the end */
    assert_int_equal(gr_close(s.ctx), 0);
}

static void optimizers_follow_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof optimizer_goldens / sizeof *optimizer_goldens; i++) {
        follow("ref", (int)i, false, 1e-11);
        follow("ref", (int)i, true, 1e-11);
        /* Muon's iteration lifts small singular values, and what rounding left of them, by up to 3.4^5. */
        follow("cpu", (int)i, false, strncmp(optimizer_goldens[i].name, "muon", 4) == 0 ? 1e-4 : 1e-5);
    }
}

/* --- schedules ---------------------------------------------------------------------------------------------------- */

static gr_schedule schedule_named(const char *name)
{
    gr_schedule s = {.kind = GR_CONSTANT, .lr_min = 0.02};
    if (!strcmp(name, "steps"))
        s = (gr_schedule){.kind = GR_STEPS, .every = 2, .gamma = 0.3};
    else if (strstr(name, "cosine"))
        s.kind = GR_COSINE;
    else if (!strcmp(name, "linear"))
        s.kind = GR_LINEAR;
    else if (!strcmp(name, "triangular"))
        s.kind = GR_TRIANGULAR;
    if (!strncmp(name, "warm", 4))
        s.warm_up = 1.5;
    return s;
}

static void schedules_follow_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schedule_goldens / sizeof *schedule_goldens; i++) {
        const char *name = schedule_goldens[i].name;
        const gr_schedule schedule = schedule_named(name);
        setting s = open_setting("ref");
        s.opt = sgd(&s, 0.2, 0.5, 0);
        for (int u = 0; u < UPDATES; u++) {
            const double lr = gr_scheduled_lr(&schedule, 0.2, u, UPDATES, PER_EPOCH);
            assert_near(name, u, lr, schedule_goldens[i].lr[u], 1e-12);
            assert_true(gr_set_lr(s.opt, lr));
            assert_near(name, u, update(&s, u, false), schedule_goldens[i].loss[u], 1e-11);
        }
        assert_int_equal(gr_close(s.ctx), 0);
    }
}

static void rates_follow_the_batch(void **state)
{
    (void)state;
    assert_true(gr_lr_for_batch(GR_LR_NONE, 0.1, 1024, 32) == 0.1);
    assert_true(fabs(gr_lr_for_batch(GR_LR_LINEAR, 0.1, 1024, 32) - 3.2) < 1e-15);
    assert_true(fabs(gr_lr_for_batch(GR_LR_SQRT, 0.1, 8, 32) - 0.05) < 1e-15);
}

/* --- what goes on around the steps -------------------------------------------------------------------------------- */

enum { CHANNELS = 6 };

static gr_module *normalised(gr_context *ctx)
{
    return gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = CHANNELS}),
                         gr_batch_norm_layer(ctx, NULL), gr_dense_layer(ctx, &(gr_dense_options){.units = CLASSES}),
                         NULL);
}

/* The model's answer without a tape: a function of its weights and running statistics. */
static void answers(const setting *s, double z[ROWS * CLASSES])
{
    bool recorded = gr_record(s->ctx, false);
    get(gr_forward(s->net, s->x), z);
    gr_step_end(s->ctx);
    gr_record(s->ctx, recorded);
}

/*
 * A rate of 1e-30 leaves the weights where they are: what an update changes is the statistics, and how often is seen in
 * z.
 */
static void statistics_move_once(void **state)
{
    (void)state;
    double z[3][ROWS * CLASSES];
    for (int kind = 0; kind < 3; kind++) { /* one pass, two, five */
        setting s = {.ctx = gr_open(&(gr_options){.device = "ref", .seed = 4})};
        s.net = normalised(s.ctx);
        s.x = gr_tensor_new(s.ctx, GR_F64, 2, (int64_t[]){ROWS, FEATURES});
        s.labels = gr_tensor_new(s.ctx, GR_I32, 1, (int64_t[]){ROWS});
        gr_module_build(s.net, 1, (int64_t[]){FEATURES});
        s.opt = kind == 2 ? gr_prox(s.ctx, s.net, &(gr_prox_options){.lr = 1e-30}) : sgd(&s, 1e-30, 0, 0);
        assert_true(kind != 1 || gr_set_sam(s.opt, 0.5));
        for (int u = 0; u < 3; u++)
            update(&s, u, false);
        answers(&s, z[kind]);
        assert_int_equal(gr_close(s.ctx), 0);
    }
    for (int i = 0; i < ROWS * CLASSES; i++) {
        assert_true(fabs(z[1][i] - z[0][i]) < 1e-12);
        assert_true(fabs(z[2][i] - z[0][i]) < 1e-12);
    }
}

/*
 * The weights [in,out] of a first layer, w, after a step of Muon at rate 1 along their own direction: the gradient of
 * half the sum of their squares is what they are.
 */
static void muon_step_along(const char *device, int64_t in, int64_t out, double *w)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_module *net = gr_sequential(ctx, gr_dense_layer(ctx, &(gr_dense_options){.units = out}),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
    gr_module_build(net, 1, &in);
    put(gr_parameter(net, 0), w);
    gr_optimizer *opt = gr_muon(ctx, net, &(gr_muon_options){.lr = 1});
    assert_true(gr_backward(gr_l2_penalty(gr_parameter(net, 0), 0.5)) && gr_optimizer_step(opt));
    get(gr_parameter(net, 0), w);
    assert_int_equal(gr_close(ctx), 0);
}

/*
 * A tall matrix is multiplied from its other side: it moves as its transpose does, which has 9/4 as many outputs as
 * inputs and so a step 3/2 as long. All four of its singular values are between 0.7 and 1.2 then.
 */
static void tall_matrices_move_as_wide_ones(void **state)
{
    (void)state;
    const char *const devices[] = {"ref", "cpu", "simt"};
    for (int k = 0; k < 3; k++) {
        double before[36], tall[36], wide[36], squares = 0;
        for (int i = 0; i < 36; i++)
            before[i] = tall[i] = wide[i % 4 * 9 + i / 4] = sin(1 + i * i);
        muon_step_along(devices[k], 9, 4, tall);
        muon_step_along(devices[k], 4, 9, wide);
        for (int i = 0; i < 36; i++) {
            const double step = before[i] - tall[i], other = before[i] - wide[i % 4 * 9 + i / 4];
            assert_true(fabs(step - other / 1.5) < (k == 0 ? 1e-12 : 1e-5));
            squares += step * step;
        }
        assert_true(squares > 4 * 0.7 * 0.7 && squares < 4 * 1.2 * 1.2);
    }
}

/* SAM leaves no trace of its climb: with a rate too small to count, not a bit of a weight changes. */
static void sam_returns_to_the_bit(void **state)
{
    (void)state;
    setting s = open_setting("cpu");
    double before[WEIGHTS], after[WEIGHTS];
    s.opt = sgd(&s, 1e-30, 0, 0);
    assert_true(gr_set_sam(s.opt, 0.3));
    get(gr_parameter(s.net, 0), before);
    set_batch(s.x, s.labels, 0);
    assert_true(gr_backward(gr_softmax_cross_entropy(gr_forward(s.net, s.x), s.labels, NULL)) &&
                gr_optimizer_step(s.opt));
    get(gr_parameter(s.net, 0), after);
    double climbed = 0;
    for (int i = 0; i < FEATURES * HIDDEN; i++)
        climbed += fabs(after[i] - before[i]);
    assert_true(climbed > 0.1);
    assert_true(gr_backward(gr_softmax_cross_entropy(gr_forward(s.net, s.x), s.labels, NULL)) &&
                gr_optimizer_step(s.opt));
    get(gr_parameter(s.net, 0), after);
    assert_memory_equal(before, after, FEATURES * HIDDEN * sizeof *before);
    assert_int_equal(gr_close(s.ctx), 0);
}

/*
 * In fp16 an update whose gradients overflow is skipped in all its passes: not a bit of a weight changes, and the next
 * one counts.
 */
static void an_overflow_leaves_no_trace(void **state)
{
    (void)state;
    const char *const names[] = {"momentum", "adamw", "lars", "clip",           "sam",
                                 "sam_adam", "prox",  "muon", "muon_normalised"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        setting s = {.ctx = gr_open(&(gr_options){.precision = GR_PRECISION_FP16})};
        double before[WEIGHTS], after[WEIGHTS], next[WEIGHTS], rows[ROWS * FEATURES];
        s.net = network(s.ctx);
        s.x = gr_tensor_new(s.ctx, gr_real(s.ctx), 2, (int64_t[]){ROWS, FEATURES});
        s.labels = gr_tensor_new(s.ctx, GR_I32, 1, (int64_t[]){ROWS});
        set_weights(s.net);
        s.opt = optimizer_named(&s, names[k]);
        update(&s, 0, false);
        get(gr_parameter(s.net, 0), before);
        for (int i = 0; i < ROWS * FEATURES; i++)
            rows[i] = i == 7 ? (double)INFINITY : 0.5;
        put(s.x, rows);
        for (int pass = 0; pass < gr_optimizer_passes(s.opt); pass++)
            assert_true(gr_backward(gr_softmax_cross_entropy(gr_forward(s.net, s.x), s.labels, NULL)) &&
                        gr_optimizer_step(s.opt));
        gr_step_end(s.ctx);
        get(gr_parameter(s.net, 0), after);
        assert_memory_equal(before, after, FEATURES * HIDDEN * sizeof *before);
        update(&s, 1, false);
        get(gr_parameter(s.net, 0), next);
        assert_memory_not_equal(after, next, FEATURES * HIDDEN * sizeof *before);
        for (int i = 0; i < FEATURES * HIDDEN; i++)
            assert_true(isfinite(next[i]));
        assert_int_equal(gr_close(s.ctx), 0);
    }
}

/* Wherever memory ends: at weights, on the way forward or back, at an optimizer's moments. */
static void without_memory_there_is_no_update(void **state)
{
    (void)state;
    bool done = false;
    int refusals = 0;
    for (int64_t limit = 256; !done; limit += 64) {
        gr_context *ctx = gr_open(&(gr_options){.memory_limit = limit});
        gr_module *net = network(ctx);
        gr_optimizer *opt = gr_adam(ctx, net, NULL);
        gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){ROWS, FEATURES});
        gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){ROWS});
        gr_backward(gr_softmax_cross_entropy(gr_forward(net, x), labels, NULL));
        done = gr_optimizer_step(opt);
        refusals += !done;
        assert_int_equal(gr_close(ctx), done ? 0 : GR_NO_MEMORY);
    }
    assert_true(refusals > 10);
}

static void refused(gr_context *ctx, const char *words)
{
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(ctx), words));
    gr_clear_error(ctx);
}

static void refusals(void **state)
{
    (void)state;
    setting s = open_setting("cpu");
    assert_null(gr_lars(s.ctx, s.net, &(gr_lars_options){.lars = {.momentum = 1}}));
    refused(s.ctx, "momentum 1");
    assert_null(gr_lars(s.ctx, s.net, &(gr_lars_options){.lars = {.trust = -1}}));
    refused(s.ctx, "trust -1");
    assert_null(gr_prox(s.ctx, s.net, &(gr_prox_options){.gamma = -1}));
    refused(s.ctx, "gamma -1");
    assert_null(gr_muon(s.ctx, s.net, &(gr_muon_options){.momentum = 1}));
    refused(s.ctx, "momentum 1");
    assert_null(gr_muon(s.ctx, s.net, &(gr_muon_options){.steps = -1}));
    refused(s.ctx, "-1 steps");
    gr_optimizer *prox = gr_prox(s.ctx, s.net, NULL), *plain = sgd(&s, 0.1, 0, 0);
    assert_false(gr_set_sam(prox, 0.1));
    refused(s.ctx, "another optimizer");
    assert_false(gr_set_sam(plain, -1));
    refused(s.ctx, "rho -1");
    assert_false(gr_set_clip(plain, (double)NAN));
    refused(s.ctx, "norm of nan");
    assert_true(gr_set_clip(plain, 1));
    gr_tensor *w = gr_parameter(s.net, 0);
    assert_true(gr_backward(gr_l2_penalty(w, 1)));
    assert_false(gr_optimizer_step(plain));
    refused(s.ctx, "does not depend on dense1.bias");
    gr_close(s.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimizers_follow_pytorch),
        cmocka_unit_test(schedules_follow_pytorch),
        cmocka_unit_test(rates_follow_the_batch),
        cmocka_unit_test(statistics_move_once),
        cmocka_unit_test(tall_matrices_move_as_wide_ones),
        cmocka_unit_test(sam_returns_to_the_bit),
        cmocka_unit_test(an_overflow_leaves_no_trace),
        cmocka_unit_test(without_memory_there_is_no_update),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
