/* sweep.h - a sweep at work, for the files that do its parts. */
#ifndef GRADUS_SWEEP_H
#define GRADUS_SWEEP_H

#include "sweep/estimate.h"
#include "terminal/progress.h"

typedef struct {
    settings shared; /* what all cells share; batch, optimizer and seed are open */
    const char *batch, *optimizer, *out;
    int64_t seeds;
    bool json;
} sweep_settings;

typedef struct {
    const recipe *recipe;
    sweep_settings asked;
    grid grid;
    journal journal;
    estimate estimate;
    const char *data; /* name of the data set */
    char data_hash[17];
    progress progress;
    /* while it runs */
    int cells, finished;               /* of this call */
    char current[96];                  /* the cell at work, in words */
    double *expected;                  /* seconds, by cell of the grid */
    double expected_done, actual_done; /* of the cells that ran */
} sweep;

/* --- sweep_plan.c: before the first cell -------------------------------------------------------------------------- */

/* Reads the data once: is all well with them, which are they, how long does it take. Returns 0 or an exit code. */
int sweep_look_at_data(sweep *w);

/* Reads what the folder has, which must be of the same sweep. Returns 0 or an exit code, complained of. */
int sweep_open_journal(sweep *w);

/* Says how many cells there are and how long they will take; w->expected has room for all of them. */
void sweep_print_plan(sweep *w);

/* Seconds for the cells that are missing. NAN: not known. */
double sweep_expected_left(const sweep *w);

/* --- sweep_cells.c ------------------------------------------------------------------------------------------------ */

int sweep_count_missing(const sweep *w);

/* Runs every cell that is missing. Returns 0 or an exit code. */
int sweep_run_missing(sweep *w);

#endif
