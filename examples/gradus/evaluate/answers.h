/* answers.h - what a network says of every sample of a set. */
#ifndef GRADUS_ANSWERS_H
#define GRADUS_ANSWERS_H

#include "evaluate/scores.h"
#include "evaluate/test_pictures.h"

enum { ANSWERS_BATCH = 64 }; /* samples at a time, where a run has no number of its own */

/* Probabilities of all samples, [n, classes]: means over the passes. */
typedef struct {
    int classes;
    double *p;   /* NULL: none yet */
    int64_t bad; /* answers that are no numbers, of all views together */
} answers;

/*
 * A pass over a set for each view, so many samples at a time: those moved are half of the mean, together. Returns 0, an
 * exit code, complained of, or GR_STOPPED behind a signal; answers_close is due all the same.
 */
int answers_of_views(gr_context *ctx, gr_module *net, gr_dataset *set, const views *seen, int64_t batch,
                     const char *command, answers *a);
void answers_close(answers *a);

/* The share of a set's samples whose answer is their label. */
double answers_accuracy(const answers *a, const gr_dataset *set);

/* Holds answers against the pictures' classes. Returns 0 or an exit code, complained of; scores_close is due. */
int answers_score(const answers *a, const test_pictures *t, const char *command, scores *s);

#endif
