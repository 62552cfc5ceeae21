/* fit_state.h - what gr_fit keeps of a run in a folder, and how it goes on from there. Without checkpoints: nothing. */
#ifndef GRADUS_FIT_STATE_H
#define GRADUS_FIT_STATE_H

#include "optim/training/fit_run.h"

/* Opens the folder. False: recorded; gr__fit_state_close is due all the same. */
bool gr__fit_state_open(gr_fit_run *f);
void gr__fit_state_close(gr_fit_run *f);

/* Goes on from the last sound checkpoint, where that is asked for and there is one. False: recorded. */
bool gr__fit_state_resume(gr_fit_run *f);

/* Writes a checkpoint if one is due: behind an update, or at the end of an epoch. False: recorded. */
bool gr__fit_state_keep(gr_fit_run *f);

#endif
