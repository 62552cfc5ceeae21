/* runs.h - the folders of sweeps that are compared: what they share, what they differ in, the runs in them. */
#ifndef GRADUS_RUNS_H
#define GRADUS_RUNS_H

#include "compare/pairs.h"
#include "sweep/journal.h"

enum { MAX_FOLDERS = 16, RUNS_LABEL = 256 };

/* What can be compared: a key of a row, and how people read it. */
typedef struct {
    const char *name;
    double unit;      /* what stands for 1 in the table: 0.01 of an accuracy, in points */
    int digits;       /* behind the point, in the table */
    const char *text; /* "test accuracy, in points" */
} metric;
extern const metric metrics[]; /* ends with one without a name */

typedef struct {
    const char *folder;     /* as it was named */
    char label[RUNS_LABEL]; /* the last part of that; all of it where another one is called the same */
    journal journal;        /* its rows */
    json_t *identity;       /* its sweep.json, without notes */
} runs;

/*
 * Reads a sweep's folder without touching it. beside: a list, which ends with NULL, of the folders that are read
 * together, itself among them. Returns 0 or an exit code, complained of in command's name; close it in either case.
 */
int runs_open(runs *r, const char *folder, const char *const *beside, const char *command);
void runs_close(runs *r);

/* Whether row i counts: the last one of each cell does. */
bool runs_counts(const runs *r, size_t i);

/* Refuses sweeps of other recipes or data than the first one's. Returns 0 or GR_USAGE, complained of. */
int runs_check(const runs *all, int n);

/* Keys of the protocol in which the sweeps differ, with their values: {"lr": [0.01, 0.02]}. A new reference. */
json_t *runs_differences(const runs *all, int n);

/* Runs with one optimizer, and of one variant of the protocol where the sweep has several ("": it has not). */
typedef struct {
    const char *optimizer, *variant;
} kind;

/* The kinds of runs there are, in the order in which they appear. Returns how many, at most max. */
int runs_kinds(const runs *r, kind *kinds, int max);

/*
 * Differences b - a of a metric, in its unit, over the runs of these kinds that both have done. Returns how many
 * there are, -1: out of memory; *pairs is to be freed.
 */
int runs_pair(const runs *a, kind of_a, const runs *b, kind of_b, const metric *m, pair **pairs);

/* Row i where it is the one that counts of a run that is done; NULL: it is not. Owned by the journal. */
const json_t *runs_row(const runs *r, size_t i);

/* Whether a run gave every test sample the same answer. */
bool runs_is_constant(const json_t *row);

/* Rows of runs that had others at work beside them: their times are not those of runs alone. */
int runs_side_by_side(const runs *r);

/* Runs that are done, and those of them that gave every test sample the same answer. */
int runs_done(const runs *r, kind of, int *constant);

/* Runs whose numbers went bad, of a kind; NULL: of all. */
int runs_went_bad(const runs *r, const kind *of);

#endif
