/* arms.c - see arms.h: an arm as a sweep. */
#include "reproduce/arms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/each_seed.h"
#include "terminal/text.h"

enum { MOST_WORDS = 64 };

/* Its command line; options_parse cuts it up. */
typedef struct {
    char words[1024], folder[2048], seeds[24], updates[24], jobs[24];
    char *given[MOST_WORDS]; /* of reproduce's own command line, allocated */
    int n_given;
    char *argv[2 * MOST_WORDS];
    int argc;
} line;

static void add(line *l, char *name, char *value)
{
    l->argv[l->argc++] = name;
    if (value)
        l->argv[l->argc++] = value;
}

/* False: no memory. What the arm says comes behind what was given: the number of workers may be what it is about. */
static bool make_line(line *l, const experiment *e, const arm *a, const reproduce_asks *asks)
{
    *l = (line){0};
    snprintf(l->words, sizeof l->words, "%s", a->words);
    snprintf(l->folder, sizeof l->folder, "%s/%s", asks->out, a->folder);
    snprintf(l->seeds, sizeof l->seeds, "%lld", (long long)(asks->seeds ? asks->seeds : e->seeds));
    snprintf(l->updates, sizeof l->updates, "%lld", (long long)asks->updates);
    snprintf(l->jobs, sizeof l->jobs, "%lld", (long long)asks->jobs);
    if (!options_unparse(settings_machine, &asks->shared, l->given, &l->n_given, MOST_WORDS) ||
        !options_unparse(settings_usage, &asks->shared, l->given, &l->n_given, MOST_WORDS))
        return false;
    add(l, "sweep", NULL);
    for (int i = 0; i < l->n_given; i++)
        add(l, l->given[i], NULL);
    for (char *rest, *word = strtok_r(l->words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (asks->updates && strcmp(word, "--epochs") == 0)
            strtok_r(NULL, " ", &rest); /* a trial's length stands for the arm's own */
        else
            add(l, word, NULL);
    }
    add(l, "--seeds", l->seeds);
    add(l, "--out", l->folder);
    if (asks->updates)
        add(l, "--updates", l->updates);
    if (asks->jobs)
        add(l, "--jobs", l->jobs);
    if (asks->shared.device.given)
        add(l, "--device", (char *)device_names[asks->shared.device.value]);
    return true;
}

static void free_line(line *l)
{
    for (int i = 0; i < l->n_given; i++)
        free(l->given[i]);
}

/* Runs what is missing of it. Returns 0 or an exit code. */
static int run_arm(sweep *w)
{
    w->silent = true;
    return sweep_work(w);
}

/* Tells its cells and their time, and adds that up. Returns 0 or an exit code. */
static int look_at_arm(sweep *w, double *left)
{
    char time[32];
    int code = sweep_look_at_data(w);
    if (code == 0)
        code = sweep_peek_at_journal(w);
    w->expected = calloc((size_t)grid_count(&w->grid), sizeof *w->expected);
    if (code == 0 && !w->expected)
        code = complain(GR_NO_MEMORY, "reproduce", "out of host memory for the plan");
    if (code == 0) {
        sweep_expect(w);
        const double mine = sweep_expected_left(w);
        *left += mine;
        const int runs = grid_count(&w->grid);
        printf("%s: %d run%s, %d to run", w->asked.out, runs, runs == 1 ? "" : "s", sweep_count_missing(w));
        printf(isfinite(mine) && mine > 0 ? ", about %s\n" : "\n", duration_text(mine, time));
    }
    free(w->expected);
    json_decref(w->journal.rows);
    return code;
}

static int do_sweep(const experiment *e, const arm *a, const reproduce_asks *asks, double *left)
{
    line l;
    sweep w;
    int code = make_line(&l, e, a, asks) ? sweep_ask(&w, l.argc, l.argv)
                                         : complain(GR_NO_MEMORY, "reproduce", "out of host memory for the words");
    if (code == 0 && !asks->dry_run)
        fprintf(stderr, "\n%s: %s\n", a->folder, a->line);
    if (code == 0)
        code = asks->dry_run ? look_at_arm(&w, left) : run_arm(&w);
    free_line(&l);
    return code;
}

int arm_do(const experiment *e, const arm *a, const reproduce_asks *asks, double *left)
{
    return each_seed_is(a) ? each_seed_do(e, a, asks) : do_sweep(e, a, asks, left);
}
