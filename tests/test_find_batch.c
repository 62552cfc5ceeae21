/*
 * test_find_batch.c - the largest batch that fits, as the tool finds it: the plan beside what a run takes, and hundreds
 * of limits under which the answer runs and one sample more does not. And what control groups leave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/gradus/find_batch/finder.h"
#include "examples/gradus/terminal/memory.h"

static settings built_in(const char *precision)
{
    settings s = {.seed = 1, .procedural = true, .threads = 2};
    for (int i = 0; precision && precisions[i].name; i++)
        if (strcmp(precisions[i].name, precision) == 0)
            s.precision = (choice){true, i};
    return s;
}

static finder finder_of(const char *name, const settings *asked)
{
    return (finder){recipe_find(name, "test"), asked, 1, "test", .progress = NULL};
}

/* Bytes that a run of this batch size takes under a limit; -1: more than that. */
static int64_t run(const finder *f, const site *at, int64_t batch, int64_t micro_batch, int64_t limit, bool plan_only)
{
    resolved r = finder_run(f, batch, micro_batch);
    r.asked.memory_limit = limit;
    gr_context *ctx = resolved_open(&r, plan_only);
    const gr_split *parts = &at->data.split;
    const int64_t samples[] = {gr_dataset_size(parts->train), gr_dataset_size(parts->val),
                               gr_dataset_size(parts->test)};
    const gr_split split = source_stand_in(ctx, &r, samples);
    const learner l = learner_make(&r, ctx, &split);
    gr_fit_options fit = resolved_fit(&r);
    fit.epochs = 0;
    fit.updates = 1;
    gr_fit(l.net, l.opt, split, &fit);
    const bool good = gr_ok(ctx);
    const int64_t peak = gr_memory_use(ctx).peak;
    assert_true(good || gr_error_code(ctx) == GR_NO_MEMORY);
    gr_close(ctx);
    return good ? peak : -1;
}

static void plan_is_what_a_run_takes(void **state)
{
    static const struct {
        const char *recipe, *precision;
        int64_t batches[5];
    } cases[] = {{"cifar10-cnn", "fp32", {1, 7, 32, 100, 391}}, {"cifar10-cnn", "bf16", {1, 7, 32, 100, 391}},
                 {"cifar10-cnn", "fp16", {1, 7, 32, 100, 391}}, {"keras-mlp", "fp32", {1, 7, 32, 100, 391}},
                 {"mnist-mlp", "fp32", {1, 7, 32, 100, 391}},   {"mnist-mlp", "bf16", {1, 7, 32, 100, 391}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const settings s = built_in(cases[i].precision);
        const finder f = finder_of(cases[i].recipe, &s);
        site at;
        assert_int_equal(site_open(&f, &at), 0);
        for (int b = 0; b < 5; b++) {
            const int64_t planned = run(&f, &at, cases[i].batches[b], 0, 0, true),
                          taken = run(&f, &at, cases[i].batches[b], 0, 0, false);
            assert_true(planned > 0);
            assert_int_equal(planned, taken);
        }
        site_close(&at);
    }
}

static void every_limit_has_its_largest_batch(void **state)
{
    static const char *const recipes_here[] = {"cifar10-cnn", "keras-mlp"};
    const int limits = 500;
    (void)state;
    srand(1);
    for (int r = 0; r < 2; r++) {
        settings s = built_in(NULL);
        const finder f = finder_of(recipes_here[r], &s);
        site at;
        assert_int_equal(site_open(&f, &at), 0);
        const int64_t least = run(&f, &at, 1, 0, 0, true), n = gr_dataset_size(at.data.split.train),
                      most = run(&f, &at, n, 0, 0, true);
        for (int i = 0; i < limits; i++) {
            memory_budget m;
            fits found;
            s.memory_limit = least + (int64_t)((double)(most - least) * rand() / RAND_MAX);
            assert_int_equal(find_fits(&f, &at, &m, &found), 0);
            assert_string_equal(m.binds, "--memory-limit");
            assert_int_equal(run(&f, &at, found.batch, 0, s.memory_limit, true), found.peak);
            assert_true(found.batch == n || run(&f, &at, found.batch + 1, 0, s.memory_limit, true) == -1);
        }
        s.memory_limit = most;
        memory_budget m;
        fits found;
        assert_int_equal(find_fits(&f, &at, &m, &found), 0);
        assert_true(found.whole);
        s.memory_limit = least - 1;
        assert_int_equal(find_fits(&f, &at, &m, &found), GR_NO_MEMORY);
        site_close(&at);
    }
}

static void a_wish_is_made_of_the_largest_pieces(void **state)
{
    (void)state;
    settings s = built_in(NULL);
    const finder f = finder_of("cifar10-cnn", &s);
    site at;
    memory_budget m;
    fits found;
    assert_int_equal(site_open(&f, &at), 0);
    s.memory_limit = 8 << 20;
    s.batch = 1000;
    assert_int_equal(find_fits(&f, &at, &m, &found), 0);
    assert_true(found.batch < 1000 && found.micro_batch > 1 && found.micro_batch <= found.batch);
    assert_true(run(&f, &at, 1000, found.micro_batch, s.memory_limit, false) > 0);
    assert_int_equal(run(&f, &at, 1000, found.micro_batch + 1, s.memory_limit, true), -1);
    s.batch = found.batch;
    assert_int_equal(find_fits(&f, &at, &m, &found), 0);
    assert_int_equal(found.micro_batch, 0);
    site_close(&at);
}

static void advice_weighs_speed_and_use(void **state)
{
    (void)state;
    const settings s = built_in(NULL);
    const finder f = finder_of("cifar10-cnn", &s);
    const fits found = {.batch = 64};
    const knee k = {.speeds = {{1, 10, 0, 9}, {2, 19, 0, 9}, {4, 36, 0, 9}, {8, 60, 0, 9}, {16, 61, 0, 9}},
                    .n = 5,
                    .batch = 8,
                    .reached = true};
    advice a;
    /* (1 + B / 4) / rate: 0.125, 0.0789, 0.0556, 0.05, 0.082 */
    advise(&f, &found, &k, &(useful){.scale = 4}, &a);
    assert_int_equal(a.batch, 8);
    /* (1 + B / 2) / rate: 0.15, 0.105, 0.0833, 0.0833: as good as 8, in fewer samples */
    advise(&f, &found, &k, &(useful){.scale = 2}, &a);
    assert_int_equal(a.batch, 4);
    advise(&f, &found, &k, &(useful){.scale = 1e9}, &a); /* 16 is the fastest by less than 5 % */
    assert_int_equal(a.batch, 8);
    advise(&f, &found, &k, &(useful){.scale = (double)NAN, .why = "no"}, &a);
    assert_int_equal(a.batch, 8);
    assert_int_equal(a.accumulate, 1);
}

/* --- control groups ----------------------------------------------------------------------------------------------- */

static void write_file(const char *root, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *c = strchr(path + 1, '/'); c; c = strchr(c + 1, '/')) {
        *c = '\0';
        mkdir(path, 0777);
        *c = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void remove_folder(const char *root)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

static void control_groups_of_version_2(void **state)
{
    char root[] = "/tmp/gradus-cgroup-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(root));
    assert_true(memory_of_cgroup(root) == INT64_MAX);
    write_file(root, "proc/self/cgroup", "0::/user/job\n");
    assert_true(memory_of_cgroup(root) == INT64_MAX); /* it cannot be seen */
    write_file(root, "sys/fs/cgroup/user/job/memory.max", "max\n");
    write_file(root, "sys/fs/cgroup/user/job/memory.current", "100\n");
    assert_true(memory_of_cgroup(root) == INT64_MAX);
    write_file(root, "sys/fs/cgroup/user/memory.max", "5000\n");
    write_file(root, "sys/fs/cgroup/user/memory.current", "1500\n");
    assert_int_equal(memory_of_cgroup(root), 3500);
    write_file(root, "sys/fs/cgroup/user/job/memory.max", "2000\n");
    assert_int_equal(memory_of_cgroup(root), 1900);
    write_file(root, "sys/fs/cgroup/user/job/memory.stat", "anon 60\nfile 40\ninactive_file 30\n");
    assert_int_equal(memory_of_cgroup(root), 1930);
    write_file(root, "sys/fs/cgroup/user/job/memory.current", "2100\n");
    assert_int_equal(memory_of_cgroup(root), 0);
    remove_folder(root);
}

static void control_groups_of_version_1(void **state)
{
    char root[] = "/tmp/gradus-cgroup-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(root));
    write_file(root, "proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/\n");
    write_file(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "500\n");
    assert_true(memory_of_cgroup(root) == INT64_MAX);
    write_file(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4000\n");
    write_file(root, "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "500\n");
    write_file(root, "sys/fs/cgroup/memory/a/memory.stat", "inactive_file 7\ntotal_inactive_file 100\n");
    assert_int_equal(memory_of_cgroup(root), 3600);
    remove_folder(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_is_what_a_run_takes),
        cmocka_unit_test(every_limit_has_its_largest_batch),
        cmocka_unit_test(a_wish_is_made_of_the_largest_pieces),
        cmocka_unit_test(advice_weighs_speed_and_use),
        cmocka_unit_test(control_groups_of_version_2),
        cmocka_unit_test(control_groups_of_version_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
