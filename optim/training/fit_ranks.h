/* fit_ranks.h - what the ranks of a run of gr_fit tell each other beside sums. Each does nothing in a run of one. */
#ifndef GRADUS_FIT_RANKS_H
#define GRADUS_FIT_RANKS_H

#include "optim/training/fit_run.h"

/* Whether this rank writes checkpoints. */
bool gr__fit_leads(const gr_fit_run *f);

/* All ranks make the same run: else the first that differs from rank 0 is named with what it differs in. */
bool gr__fit_ranks_agree(gr_fit_run *f);

/* Stops all where one was asked to stop; where a run ends by the clock, rank 0's is everyone's. */
void gr__fit_ranks_stop(gr_fit_run *f);

/* Whether all say so. */
bool gr__fit_ranks_all(gr_fit_run *f, bool own);

/* The first of the ranks' words[size] that are not "" to all, in the order of ranks. False: recorded. */
bool gr__fit_ranks_first(gr_fit_run *f, char *words, size_t size);

/* Rank 0's number to all. False: recorded. */
bool gr__fit_ranks_share(gr_fit_run *f, int64_t *number);

/* Tells the others if this rank's run has ended with an error. */
void gr__fit_ranks_end(gr_fit_run *f);

#endif
