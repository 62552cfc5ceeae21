/*
 * batch_norm_bound.h - how large the sums behind each result of batch_norm are, all terms taken absolute.
 */
#ifndef GRADUS_TABLE_BATCH_NORM_BOUND_H
#define GRADUS_TABLE_BATCH_NORM_BOUND_H

#include "tests/table/trial.h"

/* Fills magnitude[i] for every element of a result of run, a trial of batch_norm that has been run. */
void batch_norm_magnitudes(const trial *run, int buffer, double *magnitude);

#endif
