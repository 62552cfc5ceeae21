/*
 * tile_bound.h - dX, and dW under pooling windows, of 3x3 filters as Winograd's algorithm computes them.
 */
#ifndef GRADUS_TABLE_TILE_BOUND_H
#define GRADUS_TABLE_TILE_BOUND_H

#include "tests/table/truth.h"

/*
 * How large the sums are that each element of a result errs by; for the caller to free. NULL: those behind the element
 * itself, as this result is none of cpu's Winograd kernels.
 */
double *tile_magnitudes(const truth *t, int buffer);

#endif
