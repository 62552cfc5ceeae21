/* evidence.c - see evidence.h. */
#include "reproduce/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/each_seed.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

/* Whether a sweep is of another length than its arm says. */
static bool is_cut_short(const arm *a, const json_t *identity)
{
    const char *updates = strstr(a->words, "--updates ");
    const long long said = updates ? strtoll(updates + strlen("--updates "), NULL, 10) : 0;
    return json_integer_value(json_object_get(identity, "updates")) != said;
}

static int open_sweep(evidence *e, const arm *a, const char *folder, runs *r)
{
    char path[2100];
    snprintf(path, sizeof path, "%s/sweep.json", folder);
    if (!is_readable_file(path))
        return 0;
    const int code = runs_open(r, folder, (const char *const[]){folder, NULL}, "reproduce");
    e->trial = e->trial || is_cut_short(a, r->identity) || strcmp(text_at(r->identity, "data"), "procedural") == 0;
    return code;
}

static int open_seeds(evidence *e, const char *folder, runs *r)
{
    r->journal.rows = json_array();
    const int code = each_seed_read(folder, r->journal.rows, false);
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++)
        e->trial = e->trial || json_is_true(json_object_get(json_array_get(r->journal.rows, i), "trial"));
    return code;
}

static int open_folder(evidence *e, const arm *a, const char *out)
{
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/%s", out, a->folder);
    runs *r = &e->folders[e->n_folders++];
    *r = (runs){0};
    const int code = each_seed_is(a) ? open_seeds(e, folder, r) : open_sweep(e, a, folder, r);
    r->folder = a->folder; /* the other text is gone when this function ends */
    return code;
}

static void add_runs(evidence *e, const arm *a, const runs *r)
{
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const json_t *row = runs_row(r, i);
        if (row)
            e->runs[e->n++] = (run){.arm = a,
                                    .row = row,
                                    .optimizer = text_at(row, "optimizer"),
                                    .variant = text_at(row, "variant"),
                                    .batch = json_integer_value(json_object_get(row, "batch")),
                                    .seed = json_integer_value(json_object_get(row, "seed"))};
    }
}

static int by_line(const void *a, const void *b)
{
    const run *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (x->seed > y->seed) - (x->seed < y->seed);
}

/* Cells side by side, or merged, end in an order that is nobody's. */
static void sort_runs(evidence *e)
{
    for (int i = 0; i < e->n; i++) {
        int first = 0;
        while (!run_same_line(&e->runs[i], &e->runs[first]))
            first++;
        e->runs[i].line = first;
    }
    qsort(e->runs, (size_t)e->n, sizeof *e->runs, by_line);
}

int evidence_open(evidence *e, const experiment *of, const char *out)
{
    *e = (evidence){.of = of};
    size_t rows = 0;
    int code = 0;
    for (const arm *a = of->arms; a->folder && code == 0; a++) {
        code = open_folder(e, a, out);
        rows += json_array_size(e->folders[e->n_folders - 1].journal.rows);
    }
    e->runs = calloc(rows + 1, sizeof *e->runs);
    if (code == 0 && !e->runs)
        return complain(GR_NO_MEMORY, "reproduce", "out of host memory for the runs");
    for (int i = 0; code == 0 && i < e->n_folders; i++)
        add_runs(e, &of->arms[i], &e->folders[i]);
    sort_runs(e);
    return code;
}

void evidence_close(evidence *e)
{
    for (int i = 0; i < e->n_folders; i++)
        runs_close(&e->folders[i]);
    free(e->runs);
}

bool side_has(const side *s, const run *r)
{
    return strcmp(r->arm->line, s->line) == 0 && strcmp(r->optimizer, s->optimizer) == 0 &&
           strcmp(r->variant, s->variant ? s->variant : "") == 0 && (s->batch == 0 || s->batch == r->batch);
}

bool run_same_line(const run *a, const run *b)
{
    return strcmp(a->arm->line, b->arm->line) == 0 && strcmp(a->optimizer, b->optimizer) == 0 &&
           strcmp(a->variant, b->variant) == 0;
}

bool evidence_first(const evidence *e, int i, bool of_batch)
{
    for (int j = 0; j < i; j++)
        if (run_same_line(&e->runs[i], &e->runs[j]) && (!of_batch || e->runs[i].batch == e->runs[j].batch))
            return false;
    return true;
}

/* What only rows of other commands than train have. */
static const metric of_others[] = {{"convolutions", 0.01, 1, "share of the convolutions, in points"},
                                   {"ms", 1, 1, "ms of an update"},
                                   {"rise", 1, 1, "rise of the training loss around the weights"},
                                   {NULL, 0, 0, NULL}};

const metric *metric_named(const char *name)
{
    for (const metric *m = of_others; name && m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    const metric *m = metrics;
    while (name && m->name && strcmp(m->name, name) != 0)
        m++;
    return m;
}

double run_value(const run *r, const metric *m)
{
    const json_t *value = json_object_get(r->row, m->name);
    return json_is_number(value) ? json_number_value(value) / m->unit : NAN;
}

/* The run of a side that stands against another one. NULL: there is none. */
static const run *partner(const evidence *e, const side *s, const run *of)
{
    for (int i = 0; i < e->n; i++) {
        const run *r = &e->runs[i];
        if (side_has(s, r) && r->seed == of->seed && (s->batch || r->batch == of->batch))
            return r;
    }
    return NULL;
}

bool evidence_compare(const evidence *e, const side *a, const side *b, const metric *m, paired *found)
{
    pair *pairs = calloc((size_t)e->n + 1, sizeof *pairs);
    if (!pairs)
        return false;
    int n = 0;
    for (int i = 0; i < e->n; i++) {
        const run *mine = &e->runs[i], *other = side_has(a, mine) ? partner(e, b, mine) : NULL;
        const double difference = other ? run_value(other, m) - run_value(mine, m) : NAN;
        if (!isnan(difference))
            pairs[n++] = (pair){mine->seed, a->batch ? 0 : mine->batch, difference};
    }
    *found = pairs_compare(pairs, n);
    free(pairs);
    return true;
}
