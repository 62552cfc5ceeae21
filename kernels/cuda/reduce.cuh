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

/*
 * This lane and that at DISTANCE times apart add 2 DISTANCE numbers; each has the sums of half of them, in
 * v[0..DISTANCE-1].
 */
template <int DISTANCE> GR_DEVICE void warp_halve(float *v, int apart)
{
    const bool upper = threadIdx.x & DISTANCE * apart;
#pragma unroll
    for (int i = 0; i < DISTANCE; i++) {
        const float given = upper ? v[i] : v[i + DISTANCE], kept = upper ? v[i + DISTANCE] : v[i];
        v[i] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, DISTANCE * apart);
    }
}

/* N numbers become one: each exchange leaves half of them. */
template <int N> GR_DEVICE void warp_fold(float *v, int apart)
{
    if constexpr (N > 1) {
        warp_halve<N / 2>(v, apart);
        warp_fold<N / 2>(v, apart);
    }
}

/*
 * Sums of N numbers each over those of a warp's lanes that have the same lane % apart: lane i has that of the
 * v[i / apart % N], and v is used up. N and apart are powers of 2, N apart at most 32. All lanes must come.
 */
template <int N> GR_DEVICE float warp_sums(float *v, int apart)
{
    warp_fold<N>(v, apart);
    for (int distance = N * apart; distance < WARP; distance *= 2)
        v[0] += __shfl_xor_sync(0xFFFFFFFFu, v[0], distance);
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
