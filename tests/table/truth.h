/*
 * truth.h - the double reference's answer to a row, and how far from it a rounding computation may lie:
 *
 *   |got - truth| <= c * eps * sqrt(K) * magnitude
 *
 * K is the number of terms of the sum behind an element, magnitude the sum of their absolute values, c is stated for
 * each operation in ops.def, eps is the spacing of the floats (or doubles) at 1. Where factors are rounded before they
 * are multiplied, each by at most its u-th part, c * (2 u + u^2) * magnitude is added: as if all were rounded in the
 * same direction. Where a part of each product is left out, c times as large a part of the magnitude is added. Where
 * tensor cores add, truth_cut() is added too: they cut where others round, so errors do not
 * take each other away.
 */
#ifndef GRADUS_TABLE_TRUTH_H
#define GRADUS_TABLE_TRUTH_H

#include "tests/table/trial.h"

typedef struct {
    trial run;     /* forward and backward have run; buffers by trial.h's numbers */
    trial rounded; /* DIFF: backward from saved outputs rounded to float, as a device in float has them */
    trial *with_nan[2][TRIAL_SLOTS]; /* see truth_with_nan; by pass and buffer, NULL until asked for */
    double *magnitude[TRIAL_SLOTS];  /* NULL where the kernel writes nothing */
    double slack[TRIAL_SLOTS];       /* c * sqrt(K); 0: exact */
    double terms[TRIAL_SLOTS];       /* K */
    double products[TRIAL_SLOTS];    /* c where the result is made of products of inputs, else 0 */
} truth;

void truth_open(truth *t, const row *r, const row_call *shapes);
void truth_close(truth *t);

/*
 * The gradient that a ReLU which gave this input masks; -1: the input is no such thing. Where the ReLU gave a NaN, the
 * gradient must pass.
 */
int truth_masked(const row *r, gr_pass pass, int buffer);

/*
 * The oracle's pass with a NaN in one input, and in the gradient that it masks: results of it that are NaN must be NaN
 * on every device. *place is where the NaN stands: the first element; of dY the first one behind a positive result,
 * which no ReLU masks.
 */
const trial *truth_with_nan(truth *t, gr_pass pass, int buffer, int64_t *place);

/* The slot's name as ops.def and the goldens have it: "y", "p"; gradients with a d before it: "dx". */
const char *truth_name(const row *r, int buffer);

/* Whether an operation is made of products, whose factors a device may round. */
bool truth_multiplies(const gr_op *op);

/* What tensor cores of any architecture may cut off of element i of a result; 0: it is not made of products. */
double truth_cut(const truth *t, int buffer, int64_t i);

/* By how much element i may differ where a kernel on halves rounds the weights that it multiplies and updates. */
double truth_rounded(const truth *t, const gr_kernel *kernel, gr_type half, int buffer, int64_t i);

/* How exactly was computed. */
typedef struct {
    double eps;
    double factors;          /* u of the factors of products; 0: they are as they are */
    double left_out;         /* the part of a product that is, at most */
    bool cut;                /* products are added by tensor cores */
    double times;            /* the bound is scaled up so many times; 1: as stated */
    const double *magnitude; /* in place of the truth's own; NULL: that */
} exactness;

/*
 * Compares an answer's buffer with the truth. before: what stood in the buffer and was added to, NULL: nothing. Reports
 * at most one failure. False: it did.
 */
bool truth_compare(const truth *t, int buffer, const double *got, const double *before, exactness of,
                   const char *device, const char *check);

#endif
