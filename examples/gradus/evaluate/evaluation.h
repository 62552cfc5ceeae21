/* evaluation.h - scores for people, in 80 columns, and as a line of JSON. */
#ifndef GRADUS_EVALUATION_H
#define GRADUS_EVALUATION_H

#include "evaluate/scores.h"
#include "evaluate/test_pictures.h"

typedef struct {
    const weights_notes *notes;
    const test_pictures *pictures;
    const scores *scores;
    const views *seen;
    int64_t wrong; /* mistakes to name, at most */
} evaluation;

void evaluation_print(const evaluation *e);

/* False: no memory, or the output failed. */
bool evaluation_print_json(const evaluation *e);

#endif
