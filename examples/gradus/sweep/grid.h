/* grid.h - the cells of a sweep: batch sizes x optimizers x seeds. */
#ifndef GRADUS_GRID_H
#define GRADUS_GRID_H

#include "recipes/recipe.h"

enum { GRID_MAX = 64 }; /* entries of one axis */

typedef struct {
    int64_t batches[GRID_MAX];
    const char *optimizers[GRID_MAX];
    int n_batches, n_optimizers, n_seeds; /* seeds are 1 .. n_seeds */
} grid;

typedef struct {
    const char *optimizer;
    int64_t batch, seed;
} cell;

/* Reads the axes, "16,32" and "sgd,adam". Returns 0 or GR_USAGE, complained of. */
int grid_parse(const char *batches, const char *optimizers, int64_t seeds, grid *g);

int grid_count(const grid *g);

/* Cell i. The seed turns slowest: a sweep that is stopped has every batch size and optimizer equally often. */
cell grid_cell(const grid *g, int i);

/* What its optimizers take, together: see optimizer_takes. */
unsigned grid_takes(const grid *g);

#endif
