/*
 * checks.h - the questions that the table asks beside those to a device (device.h).
 */
#ifndef GRADUS_TABLE_CHECKS_H
#define GRADUS_TABLE_CHECKS_H

#include "tests/table/truth.h"

/* Gradients of the oracle equal central differences of its forward pass. DIFF operations, small rows without ties. */
void check_differences(const truth *t);

/* The public front on ref in double gives what PyTorch gave, gradients included. */
void check_golden(const truth *t);

/* A fused operation gives what the operations that it replaces give, on ref in double and on cpu. Others: nothing. */
void check_composition(const truth *t);

/*
 * The row in f16 and bf16 on ref, cpu, simt and cuda, as far as they are asked for, beside stored halves and computed
 * floats. Operations whose result is no half: nothing.
 */
void check_halves(const truth *t, bool ref, bool cpu, bool simt, bool cuda);

/* Things that are not a row. Each returns the number of failures it printed. */
int check_refusals(void);         /* fronts refuse what does not fit, in words that help */
int check_labels(void);           /* a label that is no class makes the loss NaN and counts as wrong */
int check_winograd(void);         /* cpu's 3x3 convolutions are within the bound that kernels/cpu/winograd.h states */
int check_winograd_dx(void);      /* and so is their dX by transposed sums */
int check_limits(const char *op); /* infinities and NaN through functions of one number; op NULL: of all */
int check_twice(void);            /* one tensor in two places of the tape */

#endif
