/* bench_against.c - see bench_against.h. */
#include "bench/bench_against.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_duel.h"
#include "terminal/json_values.h"
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

/* Why a side has measured nothing, by its rows. */
static void leave_out(bench_duel *d, const json_t *rows)
{
    static const char known[] = "left out: ";
    const char *why = text_at(json_array_get(rows, 0), "skipped");
    why += strncmp(why, known, strlen(known)) == 0 ? strlen(known) : 0;
    snprintf(d->left_out, sizeof d->left_out, "%s", *why ? why : "a side has measured nothing");
}

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
    if (pass == 0)
        leave_out(d, rows);
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

/* A duel_play. */
static int fight(const bench_settings *s, const bench_case *c, int64_t batch, bench_duel *d)
{
    char size[32];
    snprintf(size, sizeof size, "%lld", (long long)batch);
    bool done = turn(s, c, size, d, false); /* checks, and loads both programs into memory */
    const double begin = now_seconds();
    const bench_pace pace = bench_pace_of(s);
    while (done && !*d->left_out && !duel_over(d, pace, now_seconds() - begin))
        done = turn(s, c, size, d, true);
    return done ? 0 : GR_IO_ERROR;
}

int bench_against(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches)
{
    return duel_all(s, cases, n, batches, n_batches, &two_builds, fight);
}
