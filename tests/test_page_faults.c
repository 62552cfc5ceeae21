/*
 * test_page_faults.c - the memory of a run on the device "cpu" is touched before its first update, which so takes no
 * longer than a later one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "gradus.h"

enum { SIDE = 64, IMAGES = 64, FILTERS = 16, UPDATES = 4, PAGE = 4096 };

typedef struct {
    int64_t at_begin;         /* of an update; -1: none has begun */
    int64_t updates[UPDATES]; /* faults within each */
    int n;
} faults;

/* So often has this process touched a page that the system had not given it yet. */
static int64_t faults_so_far(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
}

/* An update begins when its batch is there. */
static void on_event(void *user, const gr_trace_event *e)
{
    faults *f = user;
    if (e->kind == GR_TRACE_SPAN && strcmp(e->op, "loader") == 0)
        f->at_begin = faults_so_far();
}

static bool on_report(void *user, const gr_progress *p)
{
    faults *f = user;
    if (!p->epoch_end)
        f->updates[f->n++] = faults_so_far() - f->at_begin;
    return true;
}

static void train(int threads, faults *f)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = threads, .seed = 1});
    gr_module *net = gr_sequential(
        ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = FILTERS, .kernel = 3, .padding = GR_SAME}),
        gr_relu_layer(ctx), gr_flatten_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
    gr_optimizer *sgd = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01});
    gr_trace(ctx, on_event, f);
    gr_fit(net, sgd, (gr_split){.train = gr_procedural(ctx, IMAGES, SIDE, SIDE, 1)},
           &(gr_fit_options){.batch = IMAGES, .updates = UPDATES, .report = on_report, .user = f});
    assert_true(gr_memory_use(ctx).step_peak > (int64_t)IMAGES * SIDE * SIDE * FILTERS * (int64_t)sizeof(float));
    assert_int_equal(gr_close(ctx), 0);
}

/* Without huge pages, of which a few hold everything. */
static void none_within_an_update(void **state)
{
    (void)state;
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        skip();
    const int64_t pages = (int64_t)IMAGES * SIDE * SIDE * FILTERS * (int64_t)sizeof(float) / PAGE;
    for (int threads = 1; threads <= 2; threads++) {
        faults f = {.at_begin = -1};
        train(threads, &f);
        assert_int_equal(f.n, UPDATES);
        for (int i = 0; i < UPDATES; i++)
            assert_in_range(f.updates[i], 0, pages / 20); /* code, stacks and the host's small blocks */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_within_an_update)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
