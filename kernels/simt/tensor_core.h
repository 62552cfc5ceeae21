/* tensor_core.h - products of matrices as tensor cores make them, bit for bit. */
#ifndef GRADUS_SIMT_TENSOR_CORE_H
#define GRADUS_SIMT_TENSOR_CORE_H

#include "kernels/simt/simt.h"

enum { GR__TENSOR_M = 16, GR__TENSOR_N = 8, GR__TENSOR_K = 16 };

typedef struct {
    float a[GR__TENSOR_M][GR__TENSOR_K], b[GR__TENSOR_K][GR__TENSOR_N];
} gr__simt_factors;

/*
 * d[16][8] += a[16][depth] b[depth][8] by the tensor cores of a compute capability; the first one that has the
 * instruction stands for older ones. op: which factors; depth is 16, of tf32 8.
 */
void gr__simt_tensor_core(float d[GR__TENSOR_M][GR__TENSOR_N], const gr__simt_factors *from, gr__simt_collective op,
                          int capability);

#endif
