/*
 * tensor_cores.h - what mma.sync adds, bit for bit. The hardware's rule, by the papers that kernels/simt/tensor_core.c
 * names: several products and the sum so far become integers of one exponent, the largest of theirs; what lies behind
 * the last bit is cut off; their sum, which is exact, is cut to a float.
 *
 *             products at once: f16, bf16   tf32    bits behind the point
 *   arch=75          8                                       24
 *   arch=80          8                        4              24
 *   arch=90         16                        8              25
 */
#ifndef GRADUS_PTX_TENSOR_CORES_H
#define GRADUS_PTX_TENSOR_CORES_H

#include <cstdint>

namespace ptx
{
enum class element { F16, BF16, TF32 };

/* d[16][8] += a[16][k] b[k][8]; k is 8 or 16; factors are numbers of that element. */
void tensor_core(float d[][8], const float *a, const float (*b)[8], int k, element of, unsigned arch);
} // namespace ptx

#endif
