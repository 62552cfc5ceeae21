/*
 * reshape.cu - the elements of x in their order under another shape; dX = dY.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/copy.cuh"

TAKES_HALVES(reshape)
FORWARD_OF_ELEMENTS(reshape)
BACKWARD_OF_ELEMENTS(reshape)
