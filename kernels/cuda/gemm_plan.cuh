/*
 * gemm_plan.cuh - how a product of m x n results over depth k is cut into blocks; a pure function of m, n and k, so
 * that the same shapes always give the same bits.
 *
 * The tile fits the slimmer side: 32 lines where there are no more. Where the tiles alone are too few to fill a GPU (16
 * samples times 320,000 features: one tile), k is split: each split leaves a partial product in scratch, and a second
 * stage adds them in the order of the splits.
 */
#ifndef GRADUS_GEMM_PLAN_CUH
#define GRADUS_GEMM_PLAN_CUH

#include "kernels/cuda/gemm_tile.cuh"
#include "kernels/cuda/tensor_tile.cuh"

enum {
    SLIM = 32,
    WANTED_BLOCKS = 512, /* about two for each of a large GPU's multiprocessors, twice */
    LEAST_STEPS = 8      /* of depth in a split: below that the partial products cost more than they save */
};

/* The tiles for operands of an element: few rows, few columns, some more columns, and the rest. */
typedef enum { WIDE, TALL, MIDDLE, LARGE } tile_shape;

template <class E> struct tiles {
    typedef tensor_tile<E, 32, 128, 1> wide;
    typedef tensor_tile<E, 128, 32, 4> tall;
    typedef tensor_tile<E, 128, 64, 4> middle;
    typedef tensor_tile<E, 128, 128, 2> large;
};
template <> struct tiles<float> {
    typedef gemm_tile<32, 128, 4> wide;
    typedef gemm_tile<128, 32, 4> tall;
    typedef gemm_tile<128, 64, 8> middle, large;
};

typedef struct {
    int64_t m, n, k;
    int64_t tiles_m, tiles_n;
    int64_t splits, split_depth; /* split_depth: whole steps */
    int64_t pitch;               /* of a row of partial products: n rounded up to quads */
    tile_shape shape;
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

template <class E> static inline tile_shape tile_shape_for(int64_t m, int64_t n)
{
    return m <= SLIM ? WIDE : n <= SLIM ? TALL : n <= tiles<E>::middle::N ? MIDDLE : LARGE;
}

template <class TILE> static inline void cut_tiles(gemm_plan *p)
{
    p->tiles_m = divide_up(p->m, TILE::M);
    p->tiles_n = divide_up(p->n, TILE::N);
}

/* For operands of E. */
template <class E> static inline gemm_plan gemm_cut(int64_t m, int64_t n, int64_t k)
{
    typedef tiles<E> OF;
    gemm_plan p;
    p.m = m, p.n = n, p.k = k;
    p.shape = tile_shape_for<E>(m, n);
    if (p.shape == WIDE)
        cut_tiles<typename OF::wide>(&p);
    else if (p.shape == TALL)
        cut_tiles<typename OF::tall>(&p);
    else if (p.shape == MIDDLE)
        cut_tiles<typename OF::middle>(&p);
    else
        cut_tiles<typename OF::large>(&p);
    p.pitch = divide_up(n, QUAD) * QUAD;
    const int64_t wanted = divide_up(WANTED_BLOCKS, p.tiles_m * p.tiles_n), most = k / (LEAST_STEPS * DEPTH<E>);
    p.splits = wanted < most ? wanted : most;
    p.splits = p.splits < 1 ? 1 : p.splits;
    p.split_depth = divide_up(divide_up(k, p.splits), DEPTH<E>) * DEPTH<E>;
    p.splits = divide_up(k, p.split_depth);
    return p;
}

/* Bytes of scratch for the partial products. */
template <class E> static inline size_t gemm_scratch(int64_t m, int64_t n, int64_t k)
{
    const gemm_plan p = gemm_cut<E>(m, n, k);
    return p.splits > 1 ? (size_t)(p.splits * m * p.pitch) * sizeof(float) : 0;
}

#endif
