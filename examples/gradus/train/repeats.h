/*
 * repeats.h - one run by several seeds (--runs): a line for each as it ends, then what they say together. The unit of
 * means and intervals is the seed.
 */
#ifndef GRADUS_REPEATS_H
#define GRADUS_REPEATS_H

#include "sweep/statistics.h"
#include "train/ranks.h"
#include "train/row.h"

typedef struct {
    int asked, told;                      /* runs; those that have come to a result */
    int done;                             /* of these, to their end: what follows is of them */
    sample test, tta, seconds, to_target; /* accuracies are shares; the last of those that reached the target */
    json_t *rows;                         /* of all that are told */
} repeats;

/* Refuses what is of one run alone. Returns 0 or GR_USAGE, complained of. */
int repeats_check(const settings *s, const char *command);

/*
 * Makes s->runs of them, one after the other as long as they come to a result, with a repeats to run's user, and tells
 * them. Returns 0 or the exit code of one that went wrong.
 */
int repeats_make(const settings *s, const recipe *r, rank_run *run, const char *command);

/* Takes in a result; for people its line is printed, the first with what all have in common before it. */
void repeats_add(repeats *t, const result *r);

#endif
