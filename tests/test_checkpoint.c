/*
 * test_checkpoint.c - a run that is stopped after any of its updates goes on to the same bits; what a folder of
 * checkpoints keeps, refuses and passes over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/sha256.h"
#include "gradus.h"

enum { SIDE = 10, IMAGES = 60, TRAIN = 34, UPDATES = 50, NOTE = 4096 };

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gradus-checkpoint-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* Calls for each file of the folder; returns how many there are. */
static int each_file(void (*call)(const char *path))
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[512];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        n++;
        if (call)
            call(path);
    }
    closedir(d);
    return n;
}

static void remove_file(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static int tear_down(void **state)
{
    (void)state;
    each_file(remove_file);
    return rmdir(folder);
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* What a run is opened with, and what has come of it. */
typedef struct {
    const char *device;
    int threads, workers;
    gr_precision precision;
    int64_t updates;
    int64_t stop_at;      /* update after which it is stopped; 0: none */
    int stop_evaluation;  /* it is stopped before that batch of evaluation, from 1; 0: not */
    bool kept, resume;    /* in the folder */
    int keep;             /* how many; 0: the usual */
    int64_t every;        /* updates */
    const char *momentum; /* a setting */
    double warm_up;       /* epochs; 0: 2 */
    const char *later;    /* parameters that are frozen behind the first epoch */
    /* after it */
    gr_fit_result result;
    gr_code code;
    char error[512], sum[GR__SHA256_TEXT];
    char history[NOTE]; /* a line per epoch */
    char told[512], resumed_from[512];
    int evaluated; /* batches */
} course;

static bool on_report(void *user, const gr_progress *p)
{
    course *c = user;
    const size_t at = strlen(c->history);
    if (p->epoch_end)
        snprintf(c->history + at, NOTE - at, "%d %d %.17g %.17g %.17g %.17g %.17g\n", (int)p->epoch, (int)p->update,
                 p->loss, p->accuracy, p->val.loss, p->val.accuracy, p->loss_scale);
    return c->stop_at == 0 || p->epoch_end || p->update != c->stop_at;
}

static bool on_batch_of_evaluation(void *user)
{
    course *c = user;
    return ++c->evaluated == c->stop_evaluation;
}

static const char *note(void *user)
{
    return ((course *)user)->history;
}

static bool on_resumed(void *user, const gr_progress *p, const char *path, const char *text)
{
    course *c = user;
    (void)p;
    snprintf(c->history, NOTE, "%s", text);
    snprintf(c->resumed_from, sizeof c->resumed_from, "%s", path);
    return true;
}

static void on_told(void *user, const char *text)
{
    snprintf(((course *)user)->told, sizeof((course *)user)->told, "%s", text);
}

/* Everything with a state of its own: running statistics, dropout, momentum. */
static gr_module *network(gr_context *ctx)
{
    const gr_conv2d_options conv = {.filters = 6, .kernel = 3, .no_bias = true, .init = GR_HE_UNIFORM};
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                         gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 9, .init = GR_HE_UNIFORM}),
                         gr_dropout_layer(ctx, 0.2), gr_dense_layer(ctx, &(gr_dense_options){.units = 1}), NULL);
}

/* Of weights, running statistics and loss scale. */
static void take_sum(gr_context *ctx, gr_module *net, course *c)
{
    char path[128];
    snprintf(path, sizeof path, "%s/weights", folder);
    assert_true(gr_save_weights(net, path));
    FILE *f = fopen(path, "rb");
    static uint8_t bytes[1 << 16];
    size_t n = fread(bytes, 1, sizeof bytes - sizeof(gr_scaling), f);
    fclose(f);
    unlink(path);
    const gr_scaling scaling = gr_loss_scaling(ctx);
    n += (size_t)snprintf((char *)bytes + n, 64, "%g %d", scaling.scale, (int)scaling.skipped);
    gr_sha256 sha;
    gr__sha256_begin(&sha);
    gr__sha256_add(&sha, bytes, n);
    gr__sha256_end(&sha, c->sum);
}

/* Batches of 12 in pieces of 5, augmented, shuffled, momentum under a schedule, validation behind every epoch. */
static void train(course *c)
{
    gr_context *ctx =
        gr_open(&(gr_options){.device = c->device, .threads = c->threads, .precision = c->precision, .seed = 3});
    gr_split part = gr_split_per_class(gr_procedural(ctx, IMAGES, SIDE, SIDE, 1), TRAIN / 2, 6, 6);
    part.train = gr_augmented(part.train, "flip,translate=2");
    gr_module *net = network(ctx);
    gr_module_build(net, 3, (int64_t[]){SIDE, SIDE, 3});
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9});
    gr_set_ema(opt, 0.8); /* evaluations are the averages' */
    if (c->precision == GR_PRECISION_FP16)
        gr_set_loss_scale(ctx, 0x1p24); /* too much: some updates are skipped */
    const gr_setting settings[] = {{"momentum", c->momentum ? c->momentum : "0.9"}};
    const gr_checkpoints kept = {.folder = folder,
                                 .keep = c->keep,
                                 .every = c->every,
                                 .resume = c->resume,
                                 .settings = settings,
                                 .n_settings = 1,
                                 .note = note,
                                 .resumed = on_resumed,
                                 .told = on_told,
                                 .user = c};
    c->history[0] = '\0';
    c->evaluated = 0;
    c->result = gr_fit(net, opt, part,
                       &(gr_fit_options){.batch = 12,
                                         .micro_batch = 5,
                                         .updates = c->updates,
                                         .schedule = {.kind = GR_COSINE, .warm_up = c->warm_up > 0 ? c->warm_up : 2},
                                         .freeze_later = c->later,
                                         .freeze_epochs = c->later ? 1 : 0,
                                         .workers = c->workers,
                                         .report = on_report,
                                         .stop = on_batch_of_evaluation,
                                         .user = c,
                                         .checkpoints = c->kept ? &kept : NULL});
    c->code = gr_error_code(ctx);
    snprintf(c->error, sizeof c->error, "%s", gr_error_text(ctx));
    if (c->code == GR_OK)
        take_sum(ctx, net, c);
    gr_close(ctx);
}

/* The same results, whatever the times were. */
static void same(const course *a, const course *b)
{
    assert_int_equal(b->code, GR_OK);
    assert_string_equal(a->sum, b->sum);
    assert_string_equal(a->history, b->history);
    assert_int_equal(a->result.updates, b->result.updates);
    assert_int_equal(a->result.epochs, b->result.epochs);
    assert_int_equal(a->result.samples, b->result.samples);
    assert_int_equal(a->result.skipped, b->result.skipped);
    assert_true(a->result.train_loss == b->result.train_loss && a->result.test.loss == b->result.test.loss);
    assert_true(a->result.val.accuracy == b->result.val.accuracy && a->result.test.f1 == b->result.test.f1);
    assert_false(b->result.stopped);
}

/* --- going on ----------------------------------------------------------------------------------------------------- */

/* Of a run's updates each is stopped at, or under sanitizers a few: others make the same accesses. */
#if defined(__SANITIZE_ADDRESS__)
enum { NEXT = 7 };
#else
enum { NEXT = 1 };
#endif

/* Stops a run after each step-th of its updates; what goes on has other threads and workers. */
static void stop_at_each(const char *device, gr_precision precision, int64_t updates, int64_t step)
{
    course whole = {.device = device, .threads = 1, .precision = precision, .updates = updates};
    train(&whole);
    assert_int_equal(whole.code, GR_OK);
    assert_int_equal(whole.result.skipped > 0, precision == GR_PRECISION_FP16);
    for (int64_t at = 1; at <= updates; at += step) {
        course first = {.device = device,
                        .threads = 1 + (int)(at % 2),
                        .precision = precision,
                        .updates = updates,
                        .stop_at = at,
                        .kept = true};
        train(&first);
        assert_true(first.code == GR_OK && first.result.stopped);
        assert_int_equal(first.result.updates, at);
        course rest = {.device = device,
                       .threads = 2 - (int)(at % 2),
                       .workers = at % 3 == 0 ? 2 : GR_NO_WORKERS,
                       .precision = precision,
                       .updates = updates,
                       .kept = true,
                       .resume = true};
        train(&rest);
        same(&whole, &rest);
        course again = rest; /* of a run that is complete there is nothing left to do */
        train(&again);
        same(&whole, &again);
        each_file(remove_file);
    }
}

static void goes_on_from_every_update(void **state)
{
    (void)state;
    stop_at_each("cpu", GR_PRECISION_FP16, UPDATES, NEXT);
}

static void goes_on_in_other_precisions(void **state)
{
    (void)state;
    stop_at_each("cpu", GR_PRECISION_FP32, 9, 2);
    stop_at_each("ref", GR_PRECISION_FP64, 5, 2);
    stop_at_each("cpu", GR_PRECISION_BF16, 5, 2);
}

/* Its updates are repeated as graphs. */
static void goes_on_on_the_emulator(void **state)
{
    (void)state;
    stop_at_each("simt", GR_PRECISION_FP16, 10, NEXT);
}

static void stopped_within_an_evaluation(void **state)
{
    (void)state;
    course whole = {.updates = 7};
    train(&whole);
    for (int batch = 1; batch <= 6; batch++) {
        course first = {.updates = 7, .kept = true, .stop_evaluation = batch}, rest = {.updates = 7, .kept = true};
        train(&first);
        assert_true(first.result.stopped);
        rest.resume = true;
        train(&rest);
        same(&whole, &rest);
        each_file(remove_file);
    }
}

/* Stopped again and again, and where nothing was kept yet it begins. */
static void stopped_many_times(void **state)
{
    (void)state;
    course whole = {.updates = 12};
    train(&whole);
    course part = {.updates = 12, .kept = true, .resume = true, .stop_at = 1};
    for (; part.stop_at < 12; part.stop_at += 2) {
        train(&part);
        assert_true(part.code == GR_OK && part.result.stopped);
    }
    part.stop_at = 0;
    train(&part);
    same(&whole, &part);
}

/* --- the folder --------------------------------------------------------------------------------------------------- */

static bool is_there(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void keeps_the_last_and_the_best(void **state)
{
    (void)state;
    course c = {.updates = 8, .kept = true, .every = 1, .keep = 3};
    train(&c);
    assert_int_equal(each_file(NULL), 4);
    assert_true(is_there("checkpoint-0000000006.safetensors") && is_there("checkpoint-0000000007.safetensors") &&
                is_there("checkpoint-0000000008.safetensors") && is_there("best.safetensors"));
    gr_context *ctx = gr_open(NULL);
    gr_module *net = network(ctx);
    gr_module_build(net, 3, (int64_t[]){SIDE, SIDE, 3});
    char path[128];
    snprintf(path, sizeof path, "%s/best.safetensors", folder);
    assert_true(gr_load_weights(net, path)); /* a checkpoint's weights are weights */
    gr_close(ctx);
}

static void change(const char *name, long at, int cut)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    if (cut) {
        assert_int_equal(truncate(path, at), 0);
        return;
    }
    FILE *f = fopen(path, "r+b");
    fseek(f, at % s.st_size, SEEK_SET);
    const int byte = fgetc(f);
    fseek(f, at % s.st_size, SEEK_SET);
    fputc(byte ^ 0x10, f);
    fclose(f);
}

/* The one before is taken, the damaged one is named and does not come back. */
static void damaged_files_are_passed_over(void **state)
{
    (void)state;
    course whole = {.updates = 6};
    train(&whole);
    for (int i = 0; i < 12; i++) {
        course first = {.updates = 6, .kept = true, .every = 1, .stop_at = 5}, rest = {.updates = 6, .kept = true};
        train(&first);
        change("checkpoint-0000000005.safetensors", i < 6 ? 1 + 977l * i : 700 * (i - 6), i >= 6);
        rest.resume = true;
        train(&rest);
        same(&whole, &rest);
        assert_non_null(strstr(rest.told, "checkpoint-0000000005.safetensors"));
        assert_non_null(strstr(rest.resumed_from, "checkpoint-0000000004.safetensors"));
        assert_true(is_there("checkpoint-0000000005.safetensors.damaged"));
        each_file(remove_file);
    }
}

static void refused(course *c, gr_code code, const char *what)
{
    train(c);
    assert_int_equal(c->code, code);
    if (!strstr(c->error, what))
        fail_msg("expected \"%s\" in: %s", what, c->error);
}

static void other_runs_are_refused(void **state)
{
    (void)state;
    course first = {.updates = 6, .kept = true, .stop_at = 2};
    train(&first);
    refused(&(course){.updates = 6, .kept = true}, GR_USAGE, "holds checkpoints of an earlier run");
    refused(&(course){.updates = 6, .kept = true, .resume = true, .momentum = "0.5"}, GR_USAGE,
            "momentum was 0.9, now it is 0.5");
    refused(&(course){.updates = 7, .kept = true, .resume = true}, GR_USAGE, "number of updates was 6, now it is 7");
    refused(&(course){.updates = 6, .kept = true, .resume = true, .device = "ref"}, GR_USAGE,
            "device was cpu, now it is ref");
    refused(&(course){.updates = 6, .kept = true, .resume = true, .precision = GR_PRECISION_BF16}, GR_USAGE,
            "precision was fp32, now it is bf16");
    refused(&(course){.updates = 6, .kept = true, .resume = true, .warm_up = 1}, GR_USAGE,
            "epochs of warm-up was 2, now it is 1");
    refused(&(course){.updates = 6, .kept = true, .resume = true, .later = "*"}, GR_USAGE,
            "parameters frozen later was none, now it is *");
    course rest = {.updates = 6, .kept = true, .resume = true};
    train(&rest);
    assert_int_equal(rest.code, GR_OK); /* the refused have changed nothing */
}

/* A folder in which nothing can be made, and one that somebody is at work in. */
static void folders_that_cannot_be(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "%s", folder);
    snprintf(folder, sizeof folder, "/proc/no/such");
    course c = {.updates = 2, .kept = true};
    refused(&c, GR_IO_ERROR, "/proc/no/such");
    snprintf(folder, sizeof folder, "%s", name);
}

/* --- a loop of one's own ------------------------------------------------------------------------------------------ */

static gr_optimizer *own_optimizer(gr_context *ctx, gr_module **net)
{
    *net = network(ctx);
    gr_module_build(*net, 3, (int64_t[]){SIDE, SIDE, 3});
    return gr_adam(ctx, *net, NULL);
}

/* n updates behind the first ones, of which there are five to an epoch. */
static void own_updates(gr_context *ctx, gr_dataset *set, gr_module *net, gr_optimizer *opt, int64_t first, int n)
{
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 8, .epoch = first / 5, .skip = first % 5});
    gr_batch batch;
    for (int i = 0; i < n;) {
        if (!gr_loader_next(loader, &batch))
            continue;
        gr_minimize(opt, gr_loss(gr_forward(net, batch.x), &batch));
        gr_step_end(ctx);
        i++;
    }
    gr_loader_close(loader);
}

static void programs_that_train_by_themselves(void **state)
{
    (void)state;
    char path[128], sums[2][GR__SHA256_TEXT];
    snprintf(path, sizeof path, "%s/own.safetensors", folder);
    for (int split = 0; split < 2; split++) {
        course c = {0};
        gr_module *net;
        gr_context *ctx = gr_open(&(gr_options){.seed = 2});
        gr_optimizer *opt = own_optimizer(ctx, &net);
        gr_dataset *set = gr_procedural(ctx, 40, SIDE, SIDE, 1);
        if (split == 0) {
            own_updates(ctx, set, net, opt, 0, 7);
            assert_true(gr_checkpoint_save(opt, path, "7 updates"));
        } else {
            const char *text;
            assert_true(gr_checkpoint_load(opt, path, &text));
            assert_string_equal(text, "7 updates");
        }
        own_updates(ctx, set, net, opt, 7, 6);
        take_sum(ctx, net, &c);
        memcpy(sums[split], c.sum, sizeof c.sum);
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_string_equal(sums[0], sums[1]);
}

/* Of two micro-batches one has gone backward: its gradient is nowhere but in memory. */
static void between_micro_batches_there_is_none(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/own.safetensors", folder);
    gr_module *net;
    gr_context *ctx = gr_open(&(gr_options){.seed = 2});
    gr_optimizer *opt = own_optimizer(ctx, &net);
    gr_dataset *set = gr_procedural(ctx, 40, SIDE, SIDE, 1);
    own_updates(ctx, set, net, opt, 0, 2);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 8, .micro_batch = 4});
    gr_batch batch;
    assert_true(gr_loader_next(loader, &batch));
    gr_backward(gr_loss(gr_forward(net, batch.x), &batch));
    gr_step_end(ctx);
    for (int i = 0; i < 2; i++) {
        assert_false(i ? gr_checkpoint_load(opt, path, NULL) : gr_checkpoint_save(opt, path, NULL));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        assert_non_null(strstr(gr_error_text(ctx), "gradients wait for their step"));
        gr_clear_error(ctx);
    }
    assert_int_equal(each_file(NULL), 0);
    assert_true(gr_loader_next(loader, &batch));
    gr_backward(gr_loss(gr_forward(net, batch.x), &batch));
    gr_optimizer_step(opt);
    gr_step_end(ctx);
    assert_true(gr_checkpoint_save(opt, path, NULL) && gr_checkpoint_load(opt, path, NULL));
    gr_loader_close(loader);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(goes_on_from_every_update, set_up, tear_down),
        cmocka_unit_test_setup_teardown(goes_on_in_other_precisions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(goes_on_on_the_emulator, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopped_within_an_evaluation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopped_many_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_the_last_and_the_best, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_files_are_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_runs_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folders_that_cannot_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(programs_that_train_by_themselves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(between_micro_batches_there_is_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
