/*
 * test_ema.c - averages of weights and look-ahead against their formulas in plain C over 20 updates; that training does
 * not notice the averages; that both are in checkpoints; what is refused.
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

#include "gradus.h"
#include "nn/module.h"

enum { UPDATES = 20, STOP = 7, ROWS = 8, FEATURES = 5, CLASSES = 3, MOST = 512 };
static const double decay = 0.6; /* the growing one reaches it at update 14 */

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    gr_tensor *x, *labels;
    int64_t count[2];        /* of weights, of running statistics */
    double average[2][MOST]; /* by the formula */
} subject;

static void open_subject(subject *s, const char *device, double ema)
{
    *s = (subject){.ctx = gr_open(&(gr_options){.device = device, .seed = 3})};
    s->net = gr_sequential(s->ctx, gr_dense_layer(s->ctx, &(gr_dense_options){.units = 7}),
                           gr_batch_norm_layer(s->ctx, NULL), gr_relu_layer(s->ctx),
                           gr_dense_layer(s->ctx, &(gr_dense_options){.units = CLASSES}), NULL);
    assert_true(gr_module_build(s->net, 1, (int64_t[]){FEATURES}));
    s->opt = gr_sgd(s->ctx, s->net, &(gr_sgd_options){.lr = 0.3, .momentum = 0.9});
    assert_true(gr_set_ema(s->opt, ema));
    s->x = gr_tensor_new(s->ctx, gr_type_of(gr_parameter(s->net, 0)), 2, (int64_t[]){ROWS, FEATURES});
    s->labels = gr_tensor_new(s->ctx, GR_I32, 1, (int64_t[]){ROWS});
}

/* Weights (0) or running statistics (1), as they are in the model. */
static int64_t read_slab(const subject *s, int which, double *to)
{
    const gr_parameters *of = which == 0 ? s->net->parameters : s->net->parameters->statistics;
    const gr_tensor *values = of->slab->values;
    float floats[MOST];
    assert_true(gr_count(values) <= MOST);
    assert_true(gr_download(values, gr_type_of(values) == GR_F64 ? (void *)to : floats));
    for (int64_t i = 0; i < gr_count(values) && gr_type_of(values) == GR_F32; i++)
        to[i] = (double)floats[i];
    return gr_count(values);
}

static void update(subject *s, int t)
{
    const bool wide = gr_type_of(gr_parameter(s->net, 0)) == GR_F64;
    double rows[ROWS * FEATURES];
    float floats[ROWS * FEATURES];
    int32_t classes[ROWS];
    for (int i = 0; i < ROWS * FEATURES; i++)
        floats[i] = (float)(rows[i] = sin(1.7 * i + t));
    for (int i = 0; i < ROWS; i++)
        classes[i] = (i + t) % CLASSES;
    assert_true(gr_upload(s->x, wide ? (void *)rows : floats) && gr_upload(s->labels, classes));
    assert_true(gr_minimize(s->opt, gr_softmax_cross_entropy(gr_forward(s->net, s->x), s->labels, NULL)));
    gr_step_end(s->ctx);
}

/* The formula, from what the weights are behind update t, from 1. */
static void average(subject *s, int t)
{
    double now[MOST];
    const double growing = (t - 1.0) / (t + 8.0), d = growing < decay ? growing : decay;
    for (int which = 0; which < 2; which++) {
        s->count[which] = read_slab(s, which, now);
        for (int64_t i = 0; i < s->count[which]; i++)
            s->average[which][i] = d * s->average[which][i] + (1 - d) * now[i];
    }
}

static void check_averages(subject *s, double bound)
{
    double values[MOST], trained[MOST], back[MOST];
    read_slab(s, 0, trained);
    assert_true(gr_ema_swap(s->opt));
    for (int which = 0; which < 2; which++) {
        read_slab(s, which, values);
        for (int64_t i = 0; i < s->count[which]; i++)
            assert_true(fabs(values[i] - s->average[which][i]) <= bound * (1 + fabs(values[i])));
    }
    assert_true(gr_ema_swap(s->opt));
    read_slab(s, 0, back);
    assert_memory_equal(back, trained, (size_t)s->count[0] * sizeof *back);
}

static void averages_are_their_formula(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        double bound;
    } on[] = {{"ref", 1e-13}, {"cpu", 1e-6}, {"simt", 1e-6}};
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        subject s, plain;
        gr_context *there = gr_open(&(gr_options){.device = on[i].device});
        const bool has = gr_ok(there);
        gr_close(there);
        if (!has) /* a build without simt */
            continue;
        open_subject(&s, on[i].device, decay);
        open_subject(&plain, on[i].device, 0);
        for (int t = 1; t <= UPDATES; t++) {
            update(&s, t);
            update(&plain, t);
            average(&s, t);
            if (t == 1 || t == UPDATES)
                check_averages(&s, on[i].bound);
        }
        double with[MOST], without[MOST];
        const int64_t n = read_slab(&s, 0, with);
        read_slab(&plain, 0, without);
        assert_memory_equal(with, without, (size_t)n * sizeof *with);
        assert_int_equal(gr_close(s.ctx), 0);
        assert_int_equal(gr_close(plain.ctx), 0);
    }
}

/* Writes weights (0) or running statistics (1) of a model. */
static void write_slab(const subject *s, int which, const double *from)
{
    const gr_parameters *of = which == 0 ? s->net->parameters : s->net->parameters->statistics;
    gr_tensor *values = of->slab->values;
    float floats[MOST];
    for (int64_t i = 0; i < gr_count(values); i++)
        floats[i] = (float)from[i];
    assert_true(gr_upload(values, gr_type_of(values) == GR_F64 ? (const void *)from : floats));
}

/*
 * Beside a subject that looks ahead goes one that does not: between two pulls both have the same bits, and at a pull
 * the formula makes the one's weights of the other's, which then takes them over.
 */
static void follow(subject *ahead, subject *plain, const gr_lookahead *l, double bound)
{
    double slow[2][MOST], fast[MOST], now[MOST];
    for (int which = 0; which < 2; which++)
        read_slab(ahead, which, slow[which]);
    for (int t = 1; t <= UPDATES; t++) {
        update(ahead, t);
        update(plain, t);
        const double share = l->grows ? (double)t / UPDATES : 1, d = l->decay * share * share * share;
        for (int which = 0; which < 2; which++) {
            const int64_t n = read_slab(plain, which, fast);
            read_slab(ahead, which, now);
            if (t % l->every != 0)
                assert_memory_equal(now, fast, (size_t)n * sizeof *now);
            for (int64_t i = 0; i < n && t % l->every == 0; i++) {
                slow[which][i] = d * slow[which][i] + (1 - d) * fast[i];
                assert_true(fabs(now[i] - slow[which][i]) <= bound * (1 + fabs(now[i])));
            }
            write_slab(plain, which, now);
        }
    }
}

static void lookahead_is_its_formula(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        double bound;
    } on[] = {{"ref", 1e-13}, {"cpu", 1e-6}, {"simt", 1e-6}};
    static const gr_lookahead asked[] = {{.every = 3, .decay = decay},
                                         {.every = 4, .decay = 0.9, .grows = true, .updates = UPDATES}};
    for (size_t i = 0; i < 2 * sizeof on / sizeof *on; i++) {
        subject ahead, plain;
        const char *device = on[i / 2].device;
        gr_context *there = gr_open(&(gr_options){.device = device});
        const bool has = gr_ok(there);
        gr_close(there);
        if (!has) /* a build without simt */
            continue;
        open_subject(&ahead, device, 0);
        open_subject(&plain, device, 0);
        assert_true(gr_set_lookahead(ahead.opt, &asked[i % 2]));
        follow(&ahead, &plain, &asked[i % 2], on[i / 2].bound);
        assert_int_equal(gr_close(ahead.ctx), 0);
        assert_int_equal(gr_close(plain.ctx), 0);
    }
}

/* The state in the middle of two pulls, and what comes of it. */
static void a_checkpoint_has_the_slow_weights(void **state)
{
    (void)state;
    char path[] = "/tmp/gradus-lookahead-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    double values[2][MOST];
    for (int resumed = 0; resumed < 2; resumed++) {
        subject s;
        open_subject(&s, "cpu", 0);
        assert_true(gr_set_lookahead(s.opt, &(gr_lookahead){.every = 5, .decay = decay}));
        if (resumed)
            assert_true(gr_checkpoint_load(s.opt, path, NULL));
        for (int t = resumed ? STOP + 1 : 1; t <= UPDATES; t++) {
            update(&s, t);
            assert_true(resumed || t != STOP || gr_checkpoint_save(s.opt, path, NULL));
        }
        s.count[0] = read_slab(&s, 0, values[resumed]);
        assert_int_equal(gr_close(s.ctx), 0);
        if (resumed)
            assert_memory_equal(values[0], values[1], (size_t)s.count[0] * sizeof(double));
    }
    unlink(path);
}

static void a_checkpoint_has_them(void **state)
{
    (void)state;
    char path[] = "/tmp/gradus-ema-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    double values[2][2][MOST];
    for (int resumed = 0; resumed < 2; resumed++) {
        subject s;
        open_subject(&s, "cpu", decay);
        if (resumed)
            assert_true(gr_checkpoint_load(s.opt, path, NULL));
        for (int t = resumed ? STOP + 1 : 1; t <= UPDATES; t++) {
            update(&s, t);
            assert_true(resumed || t != STOP || gr_checkpoint_save(s.opt, path, NULL));
        }
        assert_true(gr_ema_swap(s.opt));
        for (int which = 0; which < 2; which++)
            s.count[which] = read_slab(&s, which, values[resumed][which]);
        if (resumed)
            for (int which = 0; which < 2; which++)
                assert_memory_equal(values[0][which], values[1][which], (size_t)s.count[which] * sizeof(double));
        assert_int_equal(gr_close(s.ctx), 0);
    }
    unlink(path);
}

static void expect_refusal(subject *s, bool done, const char *word)
{
    assert_false(done);
    assert_int_equal(gr_error_code(s->ctx), GR_USAGE);
    assert_non_null(strstr(gr_error_text(s->ctx), word));
    gr_clear_error(s->ctx);
}

static void mistakes(void **state)
{
    (void)state;
    subject s;
    open_subject(&s, "cpu", 0);
    expect_refusal(&s, gr_set_ema(s.opt, 1), "decay of 1");
    expect_refusal(&s, gr_set_ema(s.opt, NAN), "decay of nan");
    expect_refusal(&s, gr_ema_swap(s.opt), "gr_set_ema");
    assert_true(gr_set_ema(s.opt, decay));
    update(&s, 1);
    expect_refusal(&s, gr_set_ema(s.opt, 0.5), "after an update");
    assert_true(gr_ema_swap(s.opt));
    expect_refusal(&s, gr_optimizer_step(s.opt), "gr_ema_swap");
    expect_refusal(&s, gr_checkpoint_save(s.opt, "/dev/null", NULL), "gr_ema_swap");
    assert_true(gr_ema_swap(s.opt));
    update(&s, 2);
    assert_int_equal(gr_close(s.ctx), 0);
}

static void mistakes_of_lookahead(void **state)
{
    (void)state;
    subject s;
    open_subject(&s, "cpu", 0);
    expect_refusal(&s, gr_set_lookahead(s.opt, &(gr_lookahead){.every = 5, .decay = 1}), "decay of 1");
    expect_refusal(&s, gr_set_lookahead(s.opt, &(gr_lookahead){.every = 5, .decay = NAN}), "decay of nan");
    expect_refusal(&s, gr_set_lookahead(s.opt, &(gr_lookahead){.every = -1}), "every -1");
    expect_refusal(&s, gr_set_lookahead(s.opt, &(gr_lookahead){.every = 5, .updates = -1}), "-1 updates in all");
    assert_true(gr_set_lookahead(s.opt, &(gr_lookahead){.every = 5, .decay = decay, .grows = true}));
    expect_refusal(&s, gr_optimizer_step(s.opt), "the number of updates");
    gr_plan_begin(s.ctx); /* which wants memory alone */
    assert_true(gr_optimizer_step(s.opt) && gr_plan_end(s.ctx) >= 0);
    expect_refusal(&s, gr_optimizer_step(s.opt), "the number of updates");
    assert_true(gr_set_lookahead(s.opt, &(gr_lookahead){.every = 5, .decay = decay}));
    update(&s, 1);
    expect_refusal(&s, gr_set_lookahead(s.opt, &(gr_lookahead){0}), "after an update");
    assert_int_equal(gr_close(s.ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_are_their_formula),
        cmocka_unit_test(a_checkpoint_has_them),
        cmocka_unit_test(lookahead_is_its_formula),
        cmocka_unit_test(a_checkpoint_has_the_slow_weights),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(mistakes_of_lookahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
