/* answers.h - what a network says of every sample of a set. */
#ifndef GRADUS_ANSWERS_H
#define GRADUS_ANSWERS_H

#include "evaluate/scores.h"
#include "evaluate/test_pictures.h"

/* Probabilities of all samples, [n, classes]: means over the passes. */
typedef struct {
    int classes;
    double *p; /* NULL: none yet */
} answers;

/*
 * One pass over a set, whose answers have that share in the mean. Returns 0 or an exit code, complained of;
 * answers_close is due all the same.
 */
int answers_add(gr_context *ctx, gr_module *net, gr_dataset *set, double share, const char *command, answers *a);
void answers_close(answers *a);

/* Holds answers against the pictures' classes. Returns 0 or an exit code, complained of; scores_close is due. */
int answers_score(const answers *a, const test_pictures *t, const char *command, scores *s);

#endif
