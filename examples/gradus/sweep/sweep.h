/* sweep.h - a sweep at work, for the files that do its parts. */
#ifndef GRADUS_SWEEP_H
#define GRADUS_SWEEP_H

#include "sweep/estimate.h"
#include "sweep/status.h"
#include "terminal/progress.h"

#define JOBS_HELP                                                                                                     \
    "cells at work side by side, each with its share of the processors; one that would not fit in memory beside the " \
    "others waits. Their rows say so, as their times are not those of a cell alone (default: 1)"

typedef struct {
    settings shared; /* what all cells share; batch, optimizer and seed are open */
    const char *batch, *optimizer, *out;
    const char *shard;            /* "2/3" */
    const char *checkpoint_every; /* of a cell: updates, or minutes with an m */
    int64_t seeds, time_limit;    /* seconds of a cell; 0: none */
    int64_t jobs, jobs_memory;    /* cells at work at a time; bytes for all of them, 0: what is free */
    bool json, dry_run;
} sweep_settings;

enum { CELL_WORDS = VARIANT_NAME + 96 };

typedef struct job job;

typedef struct {
    const recipe *recipe;
    sweep_settings asked;
    char usual_out[64]; /* the folder where none was asked for */
    bool helped;        /* --help was printed: there is nothing to do */
    bool silent;        /* its table is not printed: the files say all */
    axes axes;
    grid grid;
    int shard, shards; /* this call's cells: every shards-th from number shard on; shards 0: all */
    journal journal;
    estimate estimate;
    const char *data; /* name of the data set */
    char data_hash[17];
    int classes;
    int64_t data_bytes; /* that a process with the data read takes, before it trains */
    bool on_gpu;
    progress progress;
    /* while it runs */
    status status;
    double drawn;          /* seconds on the clock when the picture last was; 0: not yet */
    int cells, finished;   /* of this call */
    job *jobs[MOST_CELLS]; /* the cells at work */
    int n_jobs;
    int64_t budget, *needs;            /* bytes for all of them; that a cell takes, by line of the grid, 0: not known */
    bool waited;                       /* it was told that cells wait for memory */
    double *expected;                  /* seconds, by cell of the grid */
    double expected_done, actual_done; /* of the cells that ran */
} sweep;

/* --- sweep.c ------------------------------------------------------------------------------------------------------ */

/* Reads and checks a command line, whose words are cut up and must stay. Returns 0 or an exit code, complained of. */
int sweep_ask(sweep *w, int argc, char **argv);

/* Runs what is missing of what was asked for, and tells the outcome. Returns 0 or an exit code. */
int sweep_work(sweep *w);

/* --- sweep_plan.c: before the first cell -------------------------------------------------------------------------- */

/*
 * The batch size that auto stands for joins the grid: what the folder remembers, else what is advised to the optimizer
 * that has room for the least, which the folder remembers then. Returns 0 or an exit code, complained of.
 */
int sweep_find_batch(sweep *w);

/* The same, of what the folder remembers alone. */
int sweep_recall_batch(sweep *w);

/* Reads the data once: is all well with them, which are they, how long does it take. Returns 0 or an exit code. */
int sweep_look_at_data(sweep *w);

/* The same for a look: the folder need not be there, and stays as it is. */
int sweep_peek_at_journal(sweep *w);

/* Seconds that each cell of the grid will take, into w->expected. True: some had to be tried out. */
bool sweep_expect(sweep *w);

/* Reads what the folder has, which must be of the same sweep. Returns 0 or an exit code, complained of. */
int sweep_open_journal(sweep *w);

/* Says how many cells there are and how long they will take; w->expected has room for all of them. */
void sweep_print_plan(sweep *w);

/* A checksum of the text of a cell's model where the sweep is over several, else "", into text. */
void sweep_model_text(const sweep *w, const char *model, char text[9]);

/* Seconds for the cells that are missing. NAN: not known. */
double sweep_expected_left(const sweep *w);

/* --- sweep_dry.c -------------------------------------------------------------------------------------------------- */

/* Lists the cells and their states on stdout. Returns 0 or an exit code, complained of. */
int sweep_dry_run(sweep *w);

/* --- sweep_tell.c ------------------------------------------------------------------------------------------------- */

/* Writes the tables and the picture, prints the table. Returns 0 or an exit code. */
int sweep_tell(const sweep *w);

/* Between two cells, once a minute: the tables and the picture as they are now. */
void sweep_redraw(sweep *w);

/* --- sweep_room.c ------------------------------------------------------------------------------------------------- */

/* Whether a cell may begin now: there is a place for it, and memory beside those at work. */
bool sweep_has_room(sweep *w, int number);

/* --- sweep_cells.c ------------------------------------------------------------------------------------------------ */

/* "adam, batch 16, seed 1, lr=0.01" into text, which is returned. */
const char *sweep_cell_words(const cell *c, char *text, size_t size);

/* Whether cell number of the grid is this call's, or another shard's. */
bool sweep_has_cell(const sweep *w, int number);

int sweep_count_missing(const sweep *w);

/* Runs every cell that is missing. Returns 0 or an exit code. */
int sweep_run_missing(sweep *w);

#endif
