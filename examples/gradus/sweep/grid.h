/* grid.h - the cells of a sweep: batch sizes x optimizers x seeds. */
#ifndef GRADUS_GRID_H
#define GRADUS_GRID_H

#include "settings/check.h"
#include "settings/resolved.h"

enum { GRID_MAX = 64 }; /* entries of one axis */

typedef struct {
    int64_t batches[GRID_MAX];
    optimizer_set optimizers;
    int n_batches, n_seeds; /* seeds are 1 .. n_seeds */
} grid;

typedef struct {
    const optimizer *optimizer;
    int64_t batch, seed;
} cell;

/* Reads the axes, "16,32" and "sgd,adam". Returns 0 or GR_USAGE, complained of. */
int grid_parse(const char *batches, const char *names, int64_t seeds, grid *g);

int grid_count(const grid *g);

/* Cell i. The seed turns slowest: a sweep that is stopped has every batch size and optimizer equally often. */
cell grid_cell(const grid *g, int i);

/* What was asked for of one cell: what only other optimizers understand is left out. And the run that it is. */
settings grid_settings(const settings *shared, const cell *c);
resolved grid_resolve(const settings *shared, const recipe *r, const cell *c);

#endif
