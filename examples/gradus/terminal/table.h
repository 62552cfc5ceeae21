/* table.h - what a sweep says: per optimizer and batch size, means over seeds with what is known of their error. */
#ifndef GRADUS_TABLE_H
#define GRADUS_TABLE_H

#include <stdio.h>

#include "sweep/journal.h"
#include "sweep/statistics.h"

/* All cells of one optimizer and batch size. */
typedef struct {
    const char *optimizer;
    int64_t batch, updates;
    int runs, done, out_of_memory, went_bad, failed;
    sample accuracy, rate, peak; /* of the cells that are done; accuracy of the test set, a fraction */
    double set_error;            /* the test set's own standard error at that accuracy */
} table_line;

typedef struct {
    const recipe *recipe;
    const char *data;
    int64_t test_samples;
    int n;
    table_line *lines;
} table;

/* Draws up the table of a grid. lines NULL: out of memory. Free with table_free. */
table table_make(const recipe *r, const char *data, int64_t test_samples, const grid *g, const journal *j);
void table_free(table *t);

void table_print(const table *t, FILE *f);

/* One object: recipe, data, test_samples and the lines. */
void table_print_json(const table *t, FILE *f);

/* summary.csv: a line per optimizer and batch size. */
void table_write_csv(const table *t, FILE *f);

/* results.csv: a line per cell of the grid that has a row, with the keys of a row as columns. */
void cells_write_csv(const grid *g, const journal *j, FILE *f);

#endif
