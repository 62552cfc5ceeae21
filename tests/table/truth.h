/*
 * truth.h - the double reference's answer to a row, and how far from it a rounding computation may lie:
 *
 *   |got - truth| <= c * eps * sqrt(K) * magnitude
 *
 * K is the number of terms of the sum behind an element, magnitude the sum of their absolute values, c is stated for each
 * operation in truth.c, eps is the spacing of the floats (or doubles) at 1.
 */
#ifndef GRADUS_TABLE_TRUTH_H
#define GRADUS_TABLE_TRUTH_H

#include "tests/table/trial.h"

typedef struct {
    trial run;     /* forward and backward have run; buffers by trial.h's numbers */
    trial rounded; /* DIFF: backward from saved outputs rounded to float, as a device in float has them */
    trial *with_nan[2][TRIAL_SLOTS]; /* see truth_with_nan; by pass and buffer, NULL until asked for */
    double *magnitude[TRIAL_SLOTS]; /* NULL where the kernel writes nothing */
    double slack[TRIAL_SLOTS];      /* c * sqrt(K); 0: exact */
} truth;

void truth_open(truth *t, const row *r, const row_call *shapes);
void truth_close(truth *t);

/*
 * The oracle's pass with a NaN in one input: results of it that are NaN must be NaN on every device. *place is where the
 * NaN stands: the first element; of dY the first one behind a positive result, which no ReLU masks.
 */
const trial *truth_with_nan(truth *t, gr_pass pass, int buffer, int64_t *place);

/* The slot's name as ops.def and the goldens have it: "y", "p"; gradients with a d before it: "dx". */
const char *truth_name(const row *r, int buffer);

/*
 * Compares an answer's buffer with the truth at eps, scaled up by times (1: as stated). before: what stood in the buffer and
 * was added to, NULL: nothing. Reports at most one failure. False: it did.
 */
bool truth_compare(const truth *t, int buffer, const double *got, const double *before, double eps, double times,
                   const char *device, const char *check);

#endif
