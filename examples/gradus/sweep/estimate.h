/* estimate.h - how long the cells of a sweep will take: from rows that are there, else from a few updates tried out. */
#ifndef GRADUS_ESTIMATE_H
#define GRADUS_ESTIMATE_H

#include "settings/resolved.h"
#include "sweep/journal.h"

/* Time of an update at two batch sizes; a line through them serves the others. */
typedef struct {
    int64_t batch[2];
    double seconds[2]; /* NAN: it could not be tried out */
} probe;

typedef struct {
    const recipe *recipe;
    const settings *settings; /* of the sweep: epochs or updates */
    int64_t train, val, test; /* samples of the parts */
    double read_seconds;      /* to read the data, as measured */
    probe probes[GRID_MAX];   /* by optimizer of the grid; batch 0: not needed */
} estimate;

/* Tries out what the journal cannot tell, which takes seconds. True if anything was. */
bool estimate_probe(estimate *e, const grid *g, const journal *j);

/* Seconds that a cell will take in all: reading, training, evaluation. NAN: not known. */
double estimate_cell(const estimate *e, const grid *g, const journal *j, const cell *c);

#endif
