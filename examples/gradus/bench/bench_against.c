/* bench_against.c - see bench_against.h. */
#include "bench/bench_against.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_duel.h"
#include "terminal/progress.h"
#include "terminal/system.h"
#include "train/row.h"

static const char *const turn_seconds = "0.1"; /* that each process measures */

/* --- a process ---------------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 64 };

static int command_of(const bench_settings *s, const bench_case *c, const char *batch, bool checked, char **words)
{
    bench_settings child = *s;
    int n = 0;
    child.against = child.about = NULL;
    child.batches = batch;
    child.shape = c->row;
    child.json = child.unchecked = true;
    child.unchecked = !checked;
    child.seconds = strtod(turn_seconds, NULL);
    words[n++] = NULL; /* the program */
    words[n++] = strdup("bench");
    words[n++] = strdup(c->op);
    return words[1] && words[2] && options_unparse(bench_options, &child, words, &n, MOST_WORDS - 1) ? n : 0;
}

static void run_words(const char *program, char **words, int out)
{
    words[0] = (char *)program;
    dup2(out, STDOUT_FILENO);
    execv(program, words);
    fprintf(stderr, "gradus bench: %s: %s\n", program, strerror(errno));
    _exit(GR_IO_ERROR);
}

/* Runs a program and reads its rows, an array; NULL: it failed, complained of by itself or here. */
static json_t *ask(const char *program, char **words)
{
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return NULL;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_words(program, words, ends[1]);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    json_t *rows = json_array();
    for (json_t *row; f && (row = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)) != NULL;)
        json_array_append_new(rows, row);
    if (f)
        fclose(f);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && status == 0)
        return rows;
    json_decref(rows);
    complain(GR_IO_ERROR, "bench", "%s failed; it must know gradus bench --shape and --unchecked", program);
    return NULL;
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Keeps what a process has measured as turn number d->turns of a side. */
static void keep(bench_duel *d, json_t *rows, int side, const char *about)
{
    int pass = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const double ms = json_number_value(json_object_get(row, "ms"));
        if (!(ms > 0) || pass == DUEL_PASSES)
            continue;
        if (!d->row[pass]) {
            d->row[pass] = json_incref(row);
            json_object_set_new(row, "case", json_string(about)); /* to the child it is a shape of its own */
        }
        d->times[pass++][side][d->turns] = 1e-3 * ms;
    }
    d->left_out |= pass == 0;
}

/* Both programs once, the one that was last first. False: one has failed. */
static bool turn(const bench_settings *s, const bench_case *c, const char *batch, bench_duel *d, bool counts)
{
    char *words[MOST_WORDS + 1] = {NULL};
    const int n = command_of(s, c, batch, !counts && !s->unchecked, words);
    bool done = n > 0;
    for (int i = 0; i < 2 && done; i++) {
        const int side = (d->turns + i) % 2;
        json_t *rows = ask(side ? "/proc/self/exe" : s->against, words);
        done = rows != NULL;
        keep(d, rows, side, c->about);
        json_decref(rows);
    }
    for (int i = 1; i < n; i++)
        free(words[i]);
    d->turns += done && counts;
    return done;
}

/* A case at a batch size, into list. Returns how many passes it has; -1: a program has failed. */
static int fight(const bench_settings *s, const bench_case *c, int64_t batch, bench_compared *list)
{
    char size[32];
    bench_duel *d = calloc(1, sizeof *d);
    snprintf(size, sizeof size, "%lld", (long long)batch);
    bool done = d && turn(s, c, size, d, false); /* checks, and loads both programs into memory */
    const double begin = now_seconds();
    const bench_pace pace = bench_pace_of(s);
    while (done && !d->left_out && !duel_over(d, pace, now_seconds() - begin))
        done = turn(s, c, size, d, true);
    const int n = !done ? -1 : d->left_out ? 0 : duel_verdicts(d, list);
    free(d); /* rows belong to the list */
    return n;
}

int bench_against(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches)
{
    bench_compared *list = calloc((size_t)(n * n_batches) * DUEL_PASSES + 1, sizeof *list);
    progress p = progress_open();
    int found = 0, code = list ? 0 : complain(GR_NO_MEMORY, "bench", "out of host memory for the comparison");
    for (int i = 0; i < n && code == 0; i++)
        for (int b = 0; b < (strstr(cases[i].row, "[N") ? n_batches : 1) && code == 0; b++) {
            progress_bar(&p, cases[i].op, (double)(i * n_batches + b) / (n * n_batches), "");
            const int passes = fight(s, &cases[i], batches[b], list + found);
            found += passes > 0 ? passes : 0;
            code = passes < 0 ? GR_IO_ERROR : 0;
            progress_clear(&p);
        }
    if (code == 0)
        code = verdicts_print(list, found, &two_builds, s->json);
    for (int i = 0; list && i < found; i++)
        json_decref((json_t *)list[i].row);
    free(list);
    return code;
}
