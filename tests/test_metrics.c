/* test_metrics.c - metrics against cases worked out by hand; sums kept on the device; losses gone bad; who watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/context.h"
#include "gradus.h"
#include "kernels/ops/updates.h"
#include "optim/training/evaluate.h"

static void near(double got, double want)
{
    assert_true(fabs(got - want) < 1e-12);
}

/*
 * Three classes, twelve samples, one of a fourth class that occurs nowhere:
 *   label 0: 3 right, 1 taken for 1; label 1: 2 right, 2 taken for 2; label 2: 3 right, 1 taken for 0.
 */
static void metrics_of_a_matrix(void **state)
{
    (void)state;
    const double counts[16] = {3, 1, 0, 0, 0, 2, 2, 0, 1, 0, 3, 0};
    gr_metrics m = {.samples = 12};
    gr__confusion_metrics(counts, 4, &m);
    near(m.accuracy, 8.0 / 12);
    near(m.precision, (3.0 / 4 + 2.0 / 3 + 3.0 / 5) / 3);
    near(m.recall, (3.0 / 4 + 2.0 / 4 + 3.0 / 4) / 3);
    near(m.f1, (6.0 / 8 + 4.0 / 7 + 6.0 / 9) / 3);
}

/* Two classes: precision and recall are those of the second. */
static void metrics_of_two_classes(void **state)
{
    (void)state;
    gr_metrics m = {.samples = 10};
    gr__confusion_metrics((double[]){4, 1, 2, 3}, 2, &m);
    near(m.accuracy, 0.7);
    near(m.precision, 3.0 / 4);
    near(m.recall, 3.0 / 5);
    near(m.f1, 6.0 / 9);
    gr__confusion_metrics((double[]){10, 0, 0, 0}, 2, &m); /* the second does not occur */
    near(m.accuracy, 1);
    near(m.precision + m.recall + m.f1, 0);
}

/* A thousand losses whose plain float sum would be off in the fourth digit; two counts. */
static void tally_keeps_its_digits(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "ref", "simt"};
    for (int d = 0; d < 3; d++) {
        gr_context *ctx = gr_open(&(gr_options){.device = devices[d]});
        gr_score score;
        assert_true(gr__score_open(ctx, &score, 2));
        gr_tensor *loss = gr_tensor_new(ctx, gr_real(ctx), 0, NULL),
                  *counts = gr_tensor_new(ctx, gr_real(ctx), 1, (int64_t[]){2});
        double want = 0;
        for (int i = 0; i < 1000; i++) {
            const float l = i == 0 ? 30000 : 0.001f * (float)(i % 7), c[2] = {1, 100000};
            const double wide_l = (double)l, wide_c[2] = {1, 100000};
            bool f64 = gr_real(ctx) == GR_F64;
            assert_true(gr_upload(loss, f64 ? (const void *)&wide_l : &l) &&
                        gr_upload(counts, f64 ? (const void *)wide_c : c));
            gr_set_update_weight(ctx, 32);
            assert_true(gr_tally(score.total, loss, counts, NULL));
            gr_step_end(ctx);
            want += 32 * (double)l;
        }
        assert_true(gr__score_read(&score));
        assert_true(fabs(score.sums[0] - want) < 1e-9 * want);
        near(score.sums[1], 1000);
        near(score.sums[2], 1e8);
        assert_true(gr__score_clear(&score) && gr__score_read(&score));
        near(score.sums[0] + score.sums[1] + score.sums[2], 0);
        gr__score_close(ctx, &score);
        assert_int_equal(gr_close(ctx), 0);
    }
}

enum { SIDE = 6, SAMPLES = 150 };

static gr_module *tiny_net(gr_context *ctx)
{
    return gr_sequential(ctx, gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 3}), NULL);
}

/* The matrix of an evaluation against counting by hand, with a last batch that is short. */
static void evaluation_counts_right(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 4});
    gr_dataset *set = gr_procedural(ctx, SAMPLES, SIDE, SIDE, 1);
    gr_module *net = tiny_net(ctx);
    gr_evaluator e;
    assert_true(gr__evaluator_open(&e, net, set, &(gr_loader_options){.batch = 64}) && gr__evaluator_plan(&e));
    gr_metrics m = gr__evaluator_run(&e);
    m = gr__evaluator_run(&e); /* a second pass starts from nothing */
    assert_int_equal(m.classes, 3);
    double want[9] = {0}, loss = 0;
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 1, .order = GR_IN_ORDER});
    for (gr_batch batch; gr_loader_next(loader, &batch);) {
        float z[3];
        int32_t y = 0;
        gr_tensor *answer = gr_forward(net, batch.x);
        loss += gr_item(gr_loss(answer, &batch));
        assert_true(gr_download(answer, z) && gr_download(batch.y, &y));
        want[3 * y + (z[1] > z[0] ? z[2] > z[1] ? 2 : 1 : z[2] > z[0] ? 2 : 0)]++;
        gr_step_end(ctx);
    }
    for (int i = 0; i < 9; i++)
        assert_true(m.confusion[i] == want[i]);
    near(m.accuracy, (want[0] + want[4] + want[8]) / SAMPLES);
    assert_true(fabs(m.loss - loss / SAMPLES) < 1e-6);
    assert_true(want[0] + want[4] > 0 && want[0] + want[4] < SAMPLES);
    gr__evaluator_close(&e);
    assert_int_equal(gr_close(ctx), 0);
}

/* How often a run was read, and what it said last. */
typedef struct {
    int64_t fresh, updates;
    double sum, loss; /* of the losses read after updates; of the epoch */
} watcher;

static bool watch(void *user, const gr_progress *p)
{
    watcher *w = user;
    if (p->epoch_end) {
        w->loss = p->loss;
        return true;
    }
    w->updates++;
    w->fresh += p->fresh;
    w->sum += p->fresh ? p->loss : 0;
    return true;
}

static bool no_wait(gr_device *d)
{
    (void)d;
    return true;
}

/* ahead: on a device that, for all that gr_fit knows, runs behind the host. */
static gr_fit_result watched_fit(bool ahead, double lr, int64_t metrics_every, double watch_every, watcher *w,
                                 int *code)
{
    gr_context *ctx = gr_open(&(gr_options){.seed = 4});
    if (ahead)
        ctx->device->wait = no_wait;
    gr_split split = gr_split_per_class(gr_procedural(ctx, 4 * SAMPLES, SIDE, SIDE, 1), SAMPLES, 0, 20);
    gr_module *net = tiny_net(ctx);
    gr_fit_options o = {.batch = 4,
                        .epochs = 1,
                        .metrics_every = metrics_every,
                        .watch_every = watch_every,
                        .report = watch,
                        .user = w};
    *w = (watcher){0};
    gr_fit_result r = gr_fit(net, gr_sgd(ctx, net, &(gr_sgd_options){.lr = lr}), split, &o);
    if (r.test.confusion)
        near(r.test.confusion[0] + r.test.confusion[1] + r.test.confusion[2], 20);
    *code = gr_close(ctx);
    r.test.confusion = r.val.confusion = NULL;
    return r;
}

/* A device that runs ahead: what is read only in time. */
static void nobody_waits_for_what_nobody_reads(void **state)
{
    (void)state;
    watcher quiet, all, some, host;
    int code;
    gr_fit_result a = watched_fit(true, 0.1, 0, 0, &quiet, &code);
    assert_int_equal(code, 0);
    gr_fit_result b = watched_fit(true, 0.1, 1, 0, &all, &code);
    watched_fit(true, 0.1, 10, 0, &some, &code);
    watched_fit(false, 0.1, 0, 0, &host, &code);
    assert_int_equal(quiet.updates, 75);
    assert_int_equal(quiet.fresh, 2 /* after updates 64 and 75 */);
    assert_int_equal(all.fresh, 75);
    assert_int_equal(host.fresh, 75);
    assert_true(fabs(all.sum / 75 - all.loss) < 1e-9);
    assert_true(a.train_loss == b.train_loss && a.test.loss == b.test.loss && quiet.loss == all.loss);
}

/* Where a run with a loss gone bad ends, watched or not. */
static void a_bad_loss_ends_the_run_at_the_same_update(void **state)
{
    (void)state;
    watcher w;
    int code;
    gr_fit_result quiet = watched_fit(true, 1e300, 0, 0, &w, &code);
    assert_int_equal(code, GR_NUMERIC);
    gr_fit_result watched = watched_fit(true, 1e300, 1, 1e-9, &w, &code);
    assert_int_equal(code, GR_NUMERIC);
    assert_int_equal(quiet.updates, watched.updates);
    assert_in_range(quiet.updates, 1, 64);
    gr_fit_result host = watched_fit(false, 1e300, 0, 0, &w, &code);
    assert_int_equal(code, GR_NUMERIC);
    assert_in_range(host.updates, 1, 4);
}

/*
 * What is told of the time makes up the whole, of the run and of its epochs; without evaluation next to nothing is left
 * for that.
 */
typedef struct {
    double whole, evaluate;
} hours;

static bool add_up(void *user, const gr_progress *p)
{
    hours *h = user;
    if (p->epoch_end) {
        h->whole += p->time.wait + p->time.copy + p->time.compute + p->time.evaluate;
        h->evaluate += p->time.evaluate;
    }
    return true;
}

static void time_is_all_there(void **state)
{
    (void)state;
    for (int workers = GR_NO_WORKERS; workers <= 2; workers += 3)
        for (int evaluated = 0; evaluated < 2; evaluated++) {
            gr_context *ctx = gr_open(NULL);
            gr_split split = gr_split_per_class(gr_procedural(ctx, 4 * SAMPLES, SIDE, SIDE, 1), SAMPLES, 20, 20);
            split.val = evaluated ? split.val : NULL;
            split.test = evaluated ? split.test : NULL;
            gr_module *net = tiny_net(ctx);
            hours h = {0};
            gr_fit_options o = {.batch = 4, .epochs = 3, .workers = workers, .report = add_up, .user = &h};
            gr_fit_result r = gr_fit(net, gr_sgd(ctx, net, NULL), split, &o);
            const gr_time_use *t = &r.time;
            assert_true(fabs(t->wait + t->copy + t->compute + t->evaluate - h.whole) < 1e-9);
            assert_true(t->wait > 0 && t->copy > 0 && t->compute > 0 && t->making > 0 && t->reading == 0);
            assert_true(evaluated ? t->evaluate > 0 && h.whole > r.seconds
                                  : t->evaluate < 0.01 && fabs(h.whole - t->evaluate - r.seconds) < 1e-9);
            assert_true(fabs(h.evaluate - t->evaluate) < 1e-9);
            assert_int_equal(r.workers, workers > 0 ? workers : 0);
            assert_int_equal(gr_close(ctx), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_of_a_matrix),
        cmocka_unit_test(metrics_of_two_classes),
        cmocka_unit_test(tally_keeps_its_digits),
        cmocka_unit_test(evaluation_counts_right),
        cmocka_unit_test(nobody_waits_for_what_nobody_reads),
        cmocka_unit_test(time_is_all_there),
        cmocka_unit_test(a_bad_loss_ends_the_run_at_the_same_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
