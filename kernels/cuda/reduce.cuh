/*
 * reduce.cuh - sums over the lanes of a warp and the threads of a block, always in the same order.
 *
 * A warp adds in a butterfly: after five exchanges every lane holds the whole sum. Floats of other blocks are never
 * added atomically: a second kernel adds the blocks' sums in their order.
 */
#ifndef GRADUS_REDUCE_CUH
#define GRADUS_REDUCE_CUH

#include "kernels/cuda/gpu.h"

enum { WARP = 32 };

/* For kernels that give a row to each warp: this warp's first row, and how far it is to the next. */
GR_DEVICE int64_t warp_first(void)
{
    return ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
}
GR_DEVICE int64_t warp_stride(void)
{
    return (int64_t)gridDim.x * blockDim.x / WARP;
}

/* Sum over a warp's 32 lanes, in every lane. All lanes must come. */
GR_DEVICE float warp_sum(float v)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        v += __shfl_xor_sync(0xFFFFFFFFu, v, distance);
    return v;
}

/* This lane and that at the distance add 2 DISTANCE numbers; each has the sums of half of them, in v[0..DISTANCE-1]. */
template <int DISTANCE> GR_DEVICE void warp_halve(float *v)
{
    const bool upper = threadIdx.x & DISTANCE;
#pragma unroll
    for (int i = 0; i < DISTANCE; i++) {
        const float given = upper ? v[i] : v[i + DISTANCE], kept = upper ? v[i + DISTANCE] : v[i];
        v[i] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, DISTANCE);
    }
}

/* Sums over a warp's lanes of 32 numbers each: lane i has that of the v[i], and v is used up. All lanes must come. */
GR_DEVICE float warp_sum_of_each(float *v)
{
    warp_halve<16>(v);
    warp_halve<8>(v);
    warp_halve<4>(v);
    warp_halve<2>(v);
    warp_halve<1>(v);
    return v[0];
}

/* Largest of a warp's 32 lanes, in every lane; NaN if one is. */
GR_DEVICE float warp_max(float v)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, v, distance);
        v = v > other || isnan(v) ? v : other;
    }
    return v;
}

/* Sum over a block of whole warps along x (at most 1024 threads), in every thread. All threads must come. */
GR_DEVICE float block_sum(float v)
{
    GR_SHARED(float, of_warp, [WARP]);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    v = warp_sum(v);
    if (lane == 0)
        of_warp[warp] = v;
    __syncthreads();
    v = warp_sum(lane < warps ? of_warp[lane] : 0);
    __syncthreads(); /* of_warp may be written again by the next call */
    return v;
}

#endif
