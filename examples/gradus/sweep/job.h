/* job.h - a cell of a sweep at work. */
#ifndef GRADUS_JOB_H
#define GRADUS_JOB_H

#include "sweep/cell.h"
#include "sweep/cell_state.h"
#include "sweep/sweep.h"

struct job {
    sweep *sweep;
    cell cell;
    int number;     /* of the grid */
    settings asked; /* with its checkpoints in folder */
    resolved run;
    char words[CELL_WORDS], variant[VARIANT_NAME], folder[CELL_STATE_PATH];
    char model_text[9]; /* of sweep_model_text() when it began */
    bool kept;          /* it goes on from a state that an earlier call has left */
    int beside;         /* the most cells that were at work at a time while it was, itself one of them */
    status_cell life;
    cell_process process;
};

/* Puts down what has come of a cell, and tells it. Returns 0 or GR_IO_ERROR, complained of. */
int sweep_take_result(sweep *w, const job *of, const cell_end *end);

#endif
