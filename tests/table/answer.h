/*
 * answer.h - what the public functions of the library answer to a row, gradients by the tape included.
 */
#ifndef GRADUS_TABLE_ANSWER_H
#define GRADUS_TABLE_ANSWER_H

#include "tests/table/front.h"
#include "tests/table/trial.h"

typedef struct {
    double *value[TRIAL_SLOTS]; /* by trial.h's numbers; NULL: nothing there */
} answer;

/* Computes a row's result from its inputs; db as in front_call. */
typedef gr_tensor *(*answer_fn)(const row *r, gr_tensor *const *in, gr_tensor *db);

/*
 * Makes the inputs in ctx, computes r->updates times, and for DIFF operations differentiates sum(dY result), dY drawn.
 * False: ctx tells.
 */
bool answer_get(gr_context *ctx, const row *r, answer_fn compute, answer *a);
void answer_free(answer *a);

/* sum(result * weights) as a loss on the tape; weights has as many elements as result. */
gr_tensor *answer_dot(gr_tensor *result, const double *weights);

#endif
