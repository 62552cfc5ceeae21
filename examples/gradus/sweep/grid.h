/* grid.h - the cells of a sweep: batch sizes x optimizers x variants of the protocol x seeds. */
#ifndef GRADUS_GRID_H
#define GRADUS_GRID_H

#include "settings/check.h"
#include "settings/resolved.h"
#include "sweep/axes.h"

enum { GRID_MAX = 64 }; /* entries of one axis */

typedef struct {
    int64_t batches[GRID_MAX];
    optimizer_set optimizers;
    int n_batches, n_seeds; /* seeds are 1 .. n_seeds */
    const axes *axes;       /* of the protocol */
    bool auto_batch;        /* one more batch size is to be found; see sweep_find_batch */
} grid;

typedef struct {
    const optimizer *optimizer;
    int64_t batch, seed;
    const axes *axes; /* NULL: the protocol as it is */
    int variant;      /* of them */
} cell;

/* Reads the axes, "16,32" and "sgd,adam". Returns 0 or GR_USAGE, complained of. */
int grid_parse(const char *batches, const char *names, int64_t seeds, const axes *a, grid *g);

/* One more batch size, unless it is there. Returns 0 or GR_USAGE, complained of. */
int grid_add_batch(grid *g, int64_t batch);

int grid_lines(const grid *g); /* cells of one seed */
int grid_count(const grid *g);

/* Cell i. The seed turns slowest: a sweep that is stopped has every batch size and optimizer equally often. */
cell grid_cell(const grid *g, int i);

/* "lr=0.01 precision=fp32", what tells a cell from those of its optimizer, batch size and seed; "" without axes. */
const char *cell_variant(const cell *c, char text[VARIANT_NAME]);

/* What was asked for of one cell: what only other optimizers understand is left out. And the run that it is. */
settings grid_settings(const settings *shared, const cell *c);
resolved grid_resolve(const settings *shared, const recipe *r, const cell *c);

#endif
