/*
 * gemm_plan.cuh - how a product of m x n results over depth k is cut into blocks; a pure function of m, n and k, so that the
 * same shapes always give the same bits.
 *
 * The tile fits the slimmer side: 32 lines where there are no more. Where the tiles alone are too few to fill a GPU (16
 * samples times 320,000 features: one tile), k is split: each split leaves a partial product in scratch, and a second stage
 * adds them in the order of the splits.
 */
#ifndef GRADUS_GEMM_PLAN_CUH
#define GRADUS_GEMM_PLAN_CUH

#include "kernels/cuda/gemm_tile.cuh"

typedef gemm_tile<128, 64, 8> tile_large;
typedef gemm_tile<128, 32, 4> tile_tall; /* few columns */
typedef gemm_tile<32, 128, 4> tile_wide; /* few rows */

enum {
    SLIM = 32,
    WANTED_BLOCKS = 512,  /* about two for each of a large GPU's multiprocessors, twice */
    LEAST_DEPTH = 8 * DEPTH /* of a split: below that the partial products cost more than they save */
};

typedef struct {
    int64_t m, n, k;
    int64_t tiles_m, tiles_n;
    int64_t splits, split_depth; /* split_depth: a multiple of DEPTH */
    int64_t pitch;               /* of a row of partial products: n rounded up to quads */
} gemm_plan;

static inline int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Of two needs of scratch, one after the other. */
static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline bool gemm_is_wide(int64_t m)
{
    return m <= SLIM;
}
static inline bool gemm_is_tall(int64_t m, int64_t n)
{
    return !gemm_is_wide(m) && n <= SLIM;
}

static inline gemm_plan gemm_cut(int64_t m, int64_t n, int64_t k)
{
    const bool wide = gemm_is_wide(m), tall = gemm_is_tall(m, n);
    gemm_plan p;
    p.m = m, p.n = n, p.k = k;
    p.tiles_m = divide_up(m, wide ? tile_wide::M : tile_large::M);
    p.tiles_n = divide_up(n, wide ? tile_wide::N : tall ? tile_tall::N : tile_large::N);
    p.pitch = divide_up(n, QUAD) * QUAD;
    const int64_t wanted = divide_up(WANTED_BLOCKS, p.tiles_m * p.tiles_n), most = k / LEAST_DEPTH;
    p.splits = wanted < most ? wanted : most;
    p.splits = p.splits < 1 ? 1 : p.splits;
    p.split_depth = divide_up(divide_up(k, p.splits), DEPTH) * DEPTH;
    p.splits = divide_up(k, p.split_depth);
    return p;
}

/* Bytes of scratch for the partial products. */
static inline size_t gemm_scratch(int64_t m, int64_t n, int64_t k)
{
    const gemm_plan p = gemm_cut(m, n, k);
    return p.splits > 1 ? (size_t)(p.splits * m * p.pitch) * sizeof(float) : 0;
}

#endif
