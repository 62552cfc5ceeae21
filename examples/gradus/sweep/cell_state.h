/*
 * cell_state.h - the checkpoints of a cell, in a folder below the sweep's as long as the cell is not done: a sweep that
 * was stopped or killed goes on in the middle of the cell it was in.
 */
#ifndef GRADUS_CELL_STATE_H
#define GRADUS_CELL_STATE_H

#include "sweep/grid.h"

enum { CELL_STATE_PATH = 1280 };

/* The folder of a cell's checkpoints, below out. */
void cell_state_folder(const char *out, const cell *c, char folder[CELL_STATE_PATH]);

/* Has the cell's run keep its state in folder, as often as every says and when it is stopped, and go on from it. */
void cell_state_keep(settings *s, const char *folder, const char *every);

/* Whether an earlier call has left a state. */
bool cell_state_is_there(const char *folder);

/* Takes the checkpoints away. What cannot be removed does no harm: nobody asks for it again. */
void cell_state_drop(const char *folder);

/* The same of the folder that all of them lie in, where it is empty: no cell may be at work that would make its own. */
void cell_states_tidy(const char *out);

#endif
