/* ranks.h - one run by several ranks: threads of this process (--ranks), processes that mpirun has started, or both. */
#ifndef GRADUS_TOOL_RANKS_H
#define GRADUS_TOOL_RANKS_H

#include "settings/resolved.h"

/* Refuses what does not go together. Returns 0 or GR_USAGE, complained of. */
int ranks_check(const settings *s, const char *command);

/* One rank of a run; group NULL: its only one. Returns an exit code, complained of. */
typedef int rank_run(const resolved *s, gr_group *group, void *user);

/*
 * Calls run for every rank of s, each in a thread of its own with its share of the processors, the first in this one;
 * others complain by the first alone. Returns its exit code, or that of the rank that has ended all of them. Of several
 * processes it is called by each, and runs its share of the ranks.
 */
int ranks_run(const resolved *s, rank_run *run, void *user, const char *command);

#endif
