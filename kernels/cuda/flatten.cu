/*
 * flatten.cu - y[n, (h*W + w)*C + c] = x[n,h,w,c]: the elements in their order; dX = dY.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/copy.cuh"

TAKES_HALVES(flatten)
FORWARD_OF_ELEMENTS(flatten)
BACKWARD_OF_ELEMENTS(flatten)
