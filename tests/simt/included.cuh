/* included.cuh - a kernel in the first file that bounds.cu includes: what is found there has this file's name. */
#include "kernels/cuda/gpu.h"
#include "tests/simt/planted.h"

BEGINS(in_a_header)
/* y[i] = x[i] for a block's threads */
template <bool right> static __global__ void in_a_header(float *y, const float *x)
{
    y[threadIdx.x + !right] = x[threadIdx.x];
}
ENDS(in_a_header)
