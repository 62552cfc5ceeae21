/*
 * gemm_taps.cuh - dW of a convolution of halves in tiles of all taps (tap_tile.cuh): splits of k, and what becomes of
 * the sums, as gemm.cuh has them.
 *
 *   gemm_taps   block (split, 64 filters, 64 channels): results or, where k is split, partials, which are left to be
 *               added: they are too many for a last block to read
 */
#ifndef GRADUS_GEMM_TAPS_CUH
#define GRADUS_GEMM_TAPS_CUH

#include "kernels/cuda/gemm_boxes.cuh"
#include "kernels/cuda/tap_tile.cuh"

enum { TAPS_COST = 7 /* beside those of tiles<E> */ };

/* Cuts dW of K filters and so many channels, over so many steps of positions; false: other tiles are faster. */
template <class E>
static inline bool cut_taps(const gr_exec *exec, int64_t K, int64_t channels, int64_t steps, gemm_plan *plan)
{
    const int64_t n = tap_tile<E>::plan::N / BOX * channels, k = steps * BOX;
    const int64_t other = gemm_best<E>(exec, K, n, k).time;
    gemm_choice best = gemm_uncut(exec, K, n, k);
    best.time = other;
    try_tile<typename tap_tile<E>::plan>(&best, TAPS, TAPS_COST, BOX);
    *plan = best.plan;
    return best.time < other;
}

/* dW[K,3,3,channels]; partial[splits][m][pitch], where there are splits */
template <class TILE, class E, class TO>
static __global__ void __launch_bounds__(TILE::THREADS, 1)
    gemm_taps(const __grid_constant__ gradient_boxes<E> dz, const __grid_constant__ tap_patches<E> x, TO to,
              gemm_plan p, radices depths, int channels, float *partial)
{
    const box_share share = box_share_of(&p, blockIdx.x);
    const int m = share.row * BOX, c = share.column * BOX, row = threadIdx.x / GROUP_THREADS * TILE::TAPS;
    quad sum[TILE::TAPS * tap_results::QUADS];
    taps_product(TILE(), sum, &dz, &x, m, c, share.first, share.end, depths);
#pragma unroll
    for (int tap = 0; tap < TILE::TAPS; tap++) {
        const quad *of = sum + tap * tap_results::QUADS;
        const int64_t n = (row + tap) * channels + c;
        if (p.splits > 1)
            tile_partial<tap_results>(partial + share.split * p.m * p.pitch, of, m, n, &p);
        else
            tile_finish<tap_results>(&to, of, m, n, &p, true);
    }
}

template <class E, class TO>
static parts<TO> taps_launch(const gr_exec *exec, const gradient_boxes<E> &dz, const tap_patches<E> &x, const TO &to,
                             const gemm_plan &p, radices depths, int channels)
{
    typedef tap_tile<E> TILE;
    const size_t bytes = sizeof(typename TILE::RINGS);
    GR_ALLOW_SHARED((gemm_taps<TILE, E, TO>), bytes);
    GR_LAUNCH((gemm_taps<TILE, E, TO>), (unsigned)(p.tiles_m * p.tiles_n * p.splits), TILE::THREADS, bytes, exec->queue,
              dz, x, to, p, depths, channels, (float *)exec->scratch);
    return parts_left(exec, to, p, false);
}

#endif
