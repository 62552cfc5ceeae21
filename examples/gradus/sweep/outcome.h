/* outcome.h - what a sweep says: per optimizer and batch size, means over seeds with what is known of their error. */
#ifndef GRADUS_OUTCOME_H
#define GRADUS_OUTCOME_H

#include <stdio.h>

#include "sweep/journal.h"
#include "sweep/statistics.h"

/* All cells of one optimizer and batch size. */
typedef struct {
    const char *optimizer;
    char variant[VARIANT_NAME]; /* "": the protocol is the same for all */
    int64_t batch, updates;
    int runs, done, out_of_memory, went_bad, timed_out, failed;
    sample accuracy, rate, peak; /* of the cells that are done; accuracy of the test set, a fraction */
    double set_error;            /* the test set's own standard error at that accuracy */
} outcome_line;

typedef struct {
    const recipe *recipe;
    const char *data;
    int64_t test_samples;
    bool by_epochs;             /* and so a larger batch makes fewer updates */
    const char *budget;         /* "seconds=60"; NULL: of epochs or updates */
    const char *batch_schedule; /* that of all cells, whose first batch size stands for it; NULL: none */
    int side_by_side;           /* rows of runs that had others at work beside them: their times are of all */
    int n;
    outcome_line *lines;
} outcome;

/* Fills in the lines of a grid, all else being known. False: out of memory. Free with outcome_free. */
bool outcome_fill(outcome *t, const grid *g, const journal *j);
void outcome_free(outcome *t);

void outcome_print(const outcome *t, FILE *f);

/* One object: recipe, data, test_samples and the lines. A new reference; and printed as a line. */
json_t *outcome_json(const outcome *t);
void outcome_print_json(const outcome *t, FILE *f);

/* summary.csv: a line per optimizer and batch size. */
void outcome_write_csv(const outcome *t, FILE *f);

/* results.csv: a line per cell of the grid that has a row, with the keys of a row as columns. */
void cells_write_csv(const grid *g, const journal *j, FILE *f);

#endif
