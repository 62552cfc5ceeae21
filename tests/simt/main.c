/*
 * main.c - runs every planted bug and its correct twin in several orders, each in a process of its own: the bug must be
 * found by whoever can see it in this build, with its kernel, line and thread, and the twin must not be reported.
 *
 *   test_simt           all; one line for each bug
 *   test_simt NAME      what is found in the bug NAME, in forward order
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/simt/fiber.h"
#include "kernels/simt/simt.h"
#include "tests/simt/planted.h"

enum { TEXT = 16 * 1024 };

static const planted *const themes[] = {of_barriers, of_races,    of_bounds,   of_warps, of_copies,
                                        of_tiles,    of_products, of_launches, of_queues};
enum { THEMES = sizeof themes / sizeof *themes };

static const struct {
    gr__simt_order order;
    uint64_t seed;
    const char *name;
} runs[] = {
    {GR__SIMT_FORWARD, 1, "forward"}, {GR__SIMT_REVERSE, 1, "reverse"}, {GR__SIMT_RANDOM, 1, "random 1"},
    {GR__SIMT_RANDOM, 2, "random 2"}, {GR__SIMT_RANDOM, 3, "random 3"},
};
enum { RUNS = sizeof runs / sizeof *runs };

float *floats(size_t count)
{
    void *p;
    if (posix_memalign(&p, 256, count * sizeof(float)) || !gr__simt_register(p, count * sizeof(float)))
        _exit(1);
    for (size_t i = 0; i < count; i++)
        ((float *)p)[i] = (float)i;
    return p;
}

/* --- one run in a child ------------------------------------------------------------------------------------------- */

static void be_child(const planted *bug, bool right, int run)
{
    gr__simt_set_order(runs[run].order, runs[run].seed);
    gr__simt_set_strict(true);
    const bool as_expected = bug->run(right);
    const char *fault = gr__simt_fault();
    printf("%s\n", fault ? fault : as_expected ? "right" : "wrong result");
    fflush(stdout);
    _exit(0);
}

/* Everything that a run of the bug or its twin says, its sanitizer's words too. */
static void observe(const planted *bug, bool right, int run, char text[TEXT])
{
    int ends[2];
    size_t used = 0;
    ssize_t n;
    fflush(stdout);
    if (pipe(ends))
        exit(1);
    const pid_t child = fork();
    if (child < 0)
        exit(1);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        be_child(bug, right, run);
    }
    close(ends[1]);
    while (used < TEXT - 1 && (n = read(ends[0], text + used, TEXT - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]); /* what is too long is lost */
    waitpid(child, NULL, 0);
}

/* --- what it should have said ------------------------------------------------------------------------------------- */

static bool with_asan(void)
{
#if defined(GR__SIMT_ASAN)
    return true;
#else
    return false;
#endif
}

/* Whether "FILE:LINE" with a line of the bug's kernel stands in the text. */
static bool names_line(const planted *bug, const char *text)
{
    const char *base = strrchr(bug->file, '/');
    base = base ? base + 1 : bug->file;
    for (const char *at = text; (at = strstr(at, base)); at++) {
        const char *colon = at + strlen(base);
        const int line = *colon == ':' ? atoi(colon + 1) : 0;
        if (line > bug->first && line < bug->last)
            return true;
    }
    return false;
}

/* A report of the emulator: of the right kind, with kernel, line and, where a thread did it, thread. */
static bool reported(const planted *bug, const char *text)
{
    char kernel[128];
    snprintf(kernel, sizeof kernel, strchr(bug->kernel, '<') ? "in %s" : "in %s<false>", bug->kernel);
    return !strncmp(text, bug->report, strlen(bug->report)) &&
           (strstr(text, kernel) || strstr(text, "a copy in stream")) && names_line(bug, text) &&
           (!strstr(text, "block (") || strstr(text, "thread"));
}

static bool sanitized(const planted *bug, const char *text)
{
    return (strstr(text, "ERROR: AddressSanitizer") || strstr(text, "runtime error:")) && names_line(bug, text);
}

/* NULL: as it should be. */
static const char *judge(const planted *bug, const char *text)
{
    const bool right = !strcmp(text, "right\n"),
               wrong = !strcmp(text, "wrong result\n") || !*text; /* it died of the bug */
    if (bug->seen & EVERYWHERE || (bug->seen & IN_CHECK && gr__simt_checks()))
        return reported(bug, text) ? NULL : "not reported as it should be";
    if (bug->seen & BY_ASAN && with_asan())
        return sanitized(bug, text) ? NULL : "not found by the sanitizers";
    if (bug->seen & IN_RESULT)
        return wrong ? NULL : "should have a wrong result";
    planted anyhow = *bug;
    anyhow.report = "";
    if (bug->seen & OR_REPORTED && reported(&anyhow, text))
        return NULL;
    return right || wrong ? NULL : "reported where nobody should see it";
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static int check(const planted *bug)
{
    static char text[TEXT];
    int failures = 0, wrong = 0;
    for (int run = 0; run < RUNS; run++) {
        observe(bug, false, run, text);
        const char *fault = judge(bug, text);
        wrong += strcmp(text, "right\n") != 0;
        if (fault)
            failures++, printf("%s, %s: %s:\n%s\n", bug->name, runs[run].name, fault, text);
        observe(bug, true, run, text);
        if (strcmp(text, "right\n"))
            failures++, printf("%s, the correct twin, %s:\n%s\n", bug->name, runs[run].name, text);
    }
    if (bug->seen & BY_CHANCE && !wrong)
        failures++, printf("%s: right in every order\n", bug->name);
    printf("%-24s %s\n", bug->name, failures ? "FAILED" : "ok");
    return failures;
}

int main(int argc, char **argv)
{
    static char text[TEXT];
    int failures = 0, bugs = 0;
    for (int t = 0; t < THEMES; t++)
        for (const planted *bug = themes[t]; bug->name; bug++) {
            if (argc > 1 && strcmp(argv[1], bug->name))
                continue;
            bugs++;
            if (argc > 1) {
                observe(bug, false, 0, text);
                fputs(text, stdout);
            } else {
                failures += check(bug);
            }
        }
    if (argc == 1 && gr__simt_checks())
        failures += check_counts();
    printf("%d bugs, %d failures\n", bugs, failures);
    return failures || !bugs;
}
