/*
 * bench_compare.c - see bench_compare.h. Two files were measured at two moments, and between them a machine changes:
 * its clock, its neighbours, what it runs besides. The limits that stand beside every round are the same code in both,
 * so whatever their ratio is, the machine made it, and it counts as a source of error. Where both sides bring several
 * processes, these are what is counted.
 */
#include "bench/bench_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_verdicts.h"
#include "terminal/complain.h"
#include "train/row.h"

enum { MOST_SAMPLES = 1000, LIMITS = 3, ENOUGH_PROCESSES = 4 };
enum { DRIFT_DF = 6 }; /* degrees of freedom that a drift is given */

/*
 * What the places of code and data in memory add to the ratio of two processes of one program: 0.7 %, by 21 processes
 * of six operations whose operands stayed in the first two caches.
 */
static const double placement = 0.007;

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool is_row(const json_t *row)
{
    static const char *const texts[] = {"op", "row", "pass", "precision", "caches"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!json_is_string(json_object_get(row, texts[i])))
            return false;
    return json_is_array(json_object_get(row, "samples_ns")) && json_is_array(json_object_get(row, "limits_mega"));
}

/* Appends those of an open file. Returns 0 or an exit code, complained of. */
static int read_rows(FILE *f, const char *path, json_t *rows)
{
    char *text = NULL;
    size_t size = 0;
    int code = 0;
    for (int line = 1; code == 0 && getline(&text, &size, f) > 0; line++) {
        json_t *row = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (is_row(row))
            json_array_append(rows, row);
        else if (!json_object_get(row, "skipped"))
            code = complain(GR_BAD_DATA, "bench", "%s, line %d: no row of gradus bench --json with its samples", path,
                            line);
        json_decref(row);
    }
    if (code == 0 && !feof(f)) /* nor was there memory for a line */
        code = complain_of_file(path, "cannot be read", "bench");
    else if (code == 0 && json_array_size(rows) == 0)
        code = complain(GR_BAD_DATA, "bench", "%s holds no measurement; gradus bench OP --json > %s makes some", path,
                        path);
    free(text);
    return code;
}

json_t *bench_rows_read(const char *path, int *code)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        *code = errno == ENOENT ? complain(GR_BAD_DATA, "bench", "%s: %s", path, strerror(errno))
                                : complain_of_file(path, "cannot be read", "bench");
        return NULL;
    }
    json_t *rows = json_array();
    *code = read_rows(f, path, rows);
    fclose(f);
    if (*code == 0)
        return rows;
    json_decref(rows);
    return NULL;
}

/* --- one side ----------------------------------------------------------------------------------------------------- */

typedef struct {
    double times[JUDGE_MOST]; /* of rounds, or of processes */
    int n, processes;
    double limits[LIMITS]; /* medians */
} side;

static bool same_subject(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"op", "row", "batch", "pass", "precision", "caches"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

/* The median of a list of numbers, 0 of none that is positive. */
static double median_in(const json_t *list)
{
    double values[MOST_SAMPLES];
    int n = 0;
    size_t i;
    const json_t *value;
    json_array_foreach(list, i, value)
    {
        if (n < MOST_SAMPLES && json_number_value(value) > 0)
            values[n++] = json_number_value(value);
    }
    return n ? median_of(values, n) : 0;
}

/* Adds the rounds of a row. */
static void add_rounds(side *s, const json_t *row)
{
    size_t i;
    const json_t *round;
    json_array_foreach(json_object_get(row, "samples_ns"), i, round)
    {
        const double median = 1e-9 * median_in(round);
        if (median > 0 && s->n < JUDGE_MOST)
            s->times[s->n++] = median;
    }
}

/* Takes the place of the rounds from first on by their median. */
static void one_for_all(side *s, int first)
{
    if (s->n > first) {
        s->times[first] = median_of(s->times + first, s->n - first);
        s->n = first + 1;
    }
}

/* Medians over all rounds of all rows of a subject. */
static void add_limits(side *s, const json_t *rows, const json_t *subject)
{
    size_t i, r;
    const json_t *row, *round;
    for (size_t limit = 0; limit < LIMITS; limit++) {
        json_t *all = json_array();
        json_array_foreach(rows, i, row)
        {
            if (same_subject(row, subject))
                json_array_foreach(json_object_get(row, "limits_mega"), r, round)
                    json_array_append(all, json_array_get(round, limit));
        }
        s->limits[limit] = median_in(all);
        json_decref(all);
    }
}

static int count_rows(const json_t *rows, const json_t *subject)
{
    int n = 0;
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        n += same_subject(row, subject);
    }
    return n;
}

static void collect(side *s, const json_t *rows, const json_t *subject, bool by_process)
{
    size_t i;
    const json_t *row;
    *s = (side){0};
    json_array_foreach(rows, i, row)
    {
        const int first = s->n;
        if (!same_subject(row, subject))
            continue;
        add_rounds(s, row);
        if (by_process)
            one_for_all(s, first);
    }
    add_limits(s, rows, subject);
}

/* --- both --------------------------------------------------------------------------------------------------------- */

typedef struct {
    const json_t *before, *after;
    bench_compared *list;
    double *drifts; /* of each */
    int n;
} comparison;

/* How far a subject's limits' ratios are from 1: the root of the mean square of their logarithms; 0: not known. */
static double drift_of(const side *a, const side *b)
{
    double squares = 0;
    int n = 0;
    for (int i = 0; i < LIMITS; i++)
        if (a->limits[i] > 0 && b->limits[i] > 0) {
            squares += pow(log(b->limits[i] / a->limits[i]), 2);
            n++;
        }
    return n ? sqrt(squares / n) : 0;
}

/* Whether an earlier row is of the same subject: it has been dealt with. */
static bool seen(const json_t *rows, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_subject(json_array_get(rows, j), json_array_get(rows, i)))
            return true;
    return false;
}

static void compare(comparison *c, const json_t *row, side *a, side *b)
{
    const bool by_process =
        count_rows(c->before, row) >= ENOUGH_PROCESSES && count_rows(c->after, row) >= ENOUGH_PROCESSES;
    collect(a, c->before, row, by_process);
    collect(b, c->after, row, by_process);
    if (!a->n || !b->n)
        return;
    const double drift = drift_of(a, b);
    c->drifts[c->n] = drift;
    bench_compared *one = &c->list[c->n++];
    *one = (bench_compared){.row = row, .rounds = {a->n, b->n}};
    one->verdict = judge_apart((bench_side){a->times, a->n}, (bench_side){b->times, b->n},
                               hypot(drift, by_process ? 0 : placement), DRIFT_DF);
    one->before = median_of(a->times, a->n);
    one->after = median_of(b->times, b->n);
}

int bench_compare_rows(const json_t *before, const json_t *after, bool json)
{
    comparison c = {.before = before, .after = after};
    side *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    c.list = calloc(json_array_size(after) + 1, sizeof *c.list);
    c.drifts = calloc(json_array_size(after) + 1, sizeof *c.drifts);
    int code =
        a && b && c.list && c.drifts ? 0 : complain(GR_NO_MEMORY, "bench", "out of host memory for the comparison");
    for (size_t i = 0; code == 0 && i < json_array_size(after); i++) {
        const json_t *row = json_array_get(after, i);
        if (!seen(after, i) && count_rows(before, row) && json_array_size(json_object_get(row, "samples_ns")))
            compare(&c, row, a, b);
    }
    if (code == 0 && c.n == 0)
        code = complain(GR_USAGE, "bench", "--compare: the two have no case in common");
    if (code == 0 && !json) {
        verdicts_tell_apart(json_array_get(before, 0), json_array_get(after, 0));
        printf("the limits of the machine beside the cases differ by %.1f %% (median)\n",
               100 * (exp(median_of(c.drifts, c.n)) - 1));
    }
    if (code == 0)
        code = verdicts_print(c.list, c.n, &two_builds, json);
    free(c.list);
    free(c.drifts);
    free(a);
    free(b);
    return code;
}
