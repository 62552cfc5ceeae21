/* evidence.h - the runs of an experiment that are there, read from the folders of its sweeps. */
#ifndef GRADUS_EVIDENCE_H
#define GRADUS_EVIDENCE_H

#include "compare/runs.h"
#include "reproduce/experiment.h"

/* A run that is done. */
typedef struct {
    const arm *arm;
    const json_t *row;
    const char *optimizer, *variant;
    int64_t batch, seed;
    int line; /* the first run of its line, when it was read */
} run;

typedef struct {
    const experiment *of;
    runs folders[MOST_ARMS]; /* by arm; one that is not there yet has no rows */
    int n_folders;
    run *runs; /* lines as they come first, by batch size and seed */
    int n;
    bool trial; /* built-in pictures, or cut short by --updates: nothing that was published is like it */
} evidence;

/* Reads what is below a folder, without touching it. Returns 0 or an exit code, complained of; close in either case. */
int evidence_open(evidence *e, const experiment *of, const char *out);
void evidence_close(evidence *e);

bool side_has(const side *s, const run *r);

/* Whether two runs are of one line, optimizer and variant; whether run i is the first of those, or of its batch too. */
bool run_same_line(const run *a, const run *b);
bool evidence_first(const evidence *e, int i, bool of_batch);

const metric *metric_named(const char *name); /* NULL: test_accuracy */

/* The metric of a run, in its unit; NAN: it has none. */
double run_value(const run *r, const metric *m);

/* Differences b - a, in pairs by batch size and seed (by seed where batch sizes are named). False: no memory. */
bool evidence_compare(const evidence *e, const side *a, const side *b, const metric *m, paired *found);

#endif
