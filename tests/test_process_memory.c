/*
 * test_process_memory.c - the planned peak of a run beside what the system says that the process grew by, for every
 * recipe, at five batch sizes, in three precisions: not 1 % less, and no more than what no plan knows, which is as
 * much for all: stacks and arenas of threads, the layers' own records. Pages of files are left out: of code that runs
 * for the first time one kernel brings in a page, another megabytes around it. Takes two minutes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "examples/gradus/find_batch/finder.h"
#include "examples/gradus/find_batch/planned.h"
#include "examples/gradus/terminal/memory.h"

enum { BATCHES = 5, NOT_TOLD = 77 };
static const double BESIDE = 3 << 20; /* bytes: the rest of a huge page, and what no plan knows */

/* Bytes that were planned, and that the process grew by; 0, 0: the system does not tell, or it failed. */
typedef struct {
    int64_t planned, grown;
} growth;

/* Bytes of the pages of files, code above all, that are in memory. */
static int64_t pages_of_files(void)
{
    char line[128];
    long long kibibytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "RssFile: %lld kB", &kibibytes) != 1)
        ;
    if (f)
        fclose(f);
    return 1024 * (int64_t)kibibytes;
}

/* One update with evaluation, in this process. */
static growth grow(const recipe *r, const char *precision, int64_t batch)
{
    const int64_t samples[3] = {2 * batch, batch + 1, batch + 1};
    settings s = {.seed = 1, .procedural = true, .threads = 2, .batch = batch, .classes = 2};
    for (int i = 0; precisions[i].name; i++)
        if (strcmp(precisions[i].name, precision) == 0)
            s.precision = (choice){true, i};
    const resolved run = settings_resolve(&s, r);
    const int64_t planned = planned_peak(&run, samples, "test");
    gr_context *ctx = resolved_open(&run, false);
    const gr_split split = source_stand_in(ctx, &run, samples);
    const bool counted = memory_peak_restart();
    const int64_t before = memory_resident() - pages_of_files();
    const learner l = learner_make(&run, ctx, &split);
    const gr_fit_options fit = resolved_fit_updates(&run, 1);
    gr_fit(l.net, l.opt, split, &fit);
    const int64_t grown = memory_peak() - pages_of_files() - before;
    const bool good = gr_ok(ctx) || gr_error_code(ctx) == GR_NUMERIC;
    gr_close(ctx);
    return good && counted && before >= 0 ? (growth){planned, grown} : (growth){0, 0};
}

/* The same in a process of its own, which begins with nothing. */
static growth grow_apart(const recipe *r, const char *precision, int64_t batch)
{
    int ends[2], status;
    growth g = {0, 0};
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        g = grow(r, precision, batch);
        _exit(write(ends[1], &g, sizeof g) == (ssize_t)sizeof g ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    assert_int_equal(read(ends[0], &g, sizeof g), (ssize_t)sizeof g);
    close(ends[0]);
    close(ends[1]);
    return g;
}

static void the_process_grows_by_the_plan(void **state)
{
    static const char *const names[] = {"fp32", "fp16", "bf16"};
    static const int64_t batches[BATCHES] = {2, 7, 16, 32, 64};
    int wrong = 0;
    (void)state;
    for (const recipe *r = recipes; r->name; r++)
        for (int p = 0; p < 3; p++)
            for (int b = 0; b < BATCHES; b++) {
                const growth g = grow_apart(r, names[p], batches[b]);
                const double beside = (double)(g.grown - g.planned);
                if (g.planned == 0)
                    print_error("%s %s %lld: nothing known\n", r->name, names[p], (long long)batches[b]);
                const bool good = g.planned > 0 && beside <= BESIDE && beside >= -0.01 * (double)g.planned;
                printf("%-18s %s %3lld: planned %8.2f MB, grown by %8.2f MB, %+.2f%s\n", r->name, names[p],
                       (long long)batches[b], 1e-6 * (double)g.planned, 1e-6 * (double)g.grown, 1e-6 * beside,
                       good ? "" : "   <- too far");
                wrong += !good;
            }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    if (!memory_peak_restart())
        return NOT_TOLD;
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_process_grows_by_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
