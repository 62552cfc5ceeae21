/* class_of.cuh - the class that logits say, found by a warp. */
#ifndef GRADUS_CLASS_OF_CUH
#define GRADUS_CLASS_OF_CUH

#include "kernels/cuda/reduce.cuh"

/* Class of the logits z[C], in every lane; -1 where one is NaN, which no label is. */
GR_DEVICE int64_t class_of(const float *z, int64_t C)
{
    const int lane = threadIdx.x % WARP;
    float best = lane < C ? z[lane] : -INFINITY;
    int64_t at = lane;
    bool lost = isnan(best);
    for (int64_t j = lane + WARP; j < C; j += WARP) {
        lost |= isnan(z[j]);
        at = z[j] > best ? j : at;
        best = z[j] > best ? z[j] : best;
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, best, distance);
        const int64_t other_at = __shfl_xor_sync(0xFFFFFFFFu, at, distance);
        const bool better = other > best || (other == best && other_at < at);
        best = better ? other : best;
        at = better ? other_at : at;
    }
    return __any_sync(0xFFFFFFFFu, lost) ? -1 : C == 1 ? best > 0 : at;
}

#endif
