/*
 * gemm_plan.cuh - how a product of m x n results over depth k is cut into blocks; a pure function of m, n, k, the
 * number of multiprocessors and whether the GPU has wgmma, so that the same shapes always give the same bits on GPUs
 * of one size.
 *
 * A block makes a tile. Where the tiles alone are too few to fill a GPU (16 samples times 320,000 features: 4 tiles), k
 * is split: each split leaves a partial product in scratch, and a second stage adds them in the order of the splits. Of
 * all tiles and splits, those are taken by which the busiest multiprocessor has least to do.
 *
 * The second stage is the last block of each tile where it reads few enough partial products, else a launch of its own
 * or a part of another one, which has the whole GPU read them.
 */
#ifndef GRADUS_GEMM_PLAN_CUH
#define GRADUS_GEMM_PLAN_CUH

#include "kernels/cuda/gemm_tile.cuh"
#include "kernels/cuda/hopper_tile.cuh"
#include "kernels/cuda/scratch.cuh"
#include "kernels/cuda/tensor_tile.cuh"

enum {
    LEAST_STEPS = 4, /* of depth in a split */
    BEGIN = 8,       /* steps that a block's beginning and end cost, about: its first loads, its results */
    JOIN = 4,        /* and as many more, where partial products are written and added */
    IDLE = 128,      /* threads without which a multiprocessor takes the same time: others hide a step's latency */
    MOST_ROUNDS = 4  /* blocks for each multiprocessor, up to which splits are tried */
};

/*
 * What a launch costs, 1.4 us by itself and about 1 us of pause before it (docs/bounds.md), spent on partial products
 * instead: bytes that a multiprocessor reads of L2 at 64 a cycle; and the turns of a thread, which has so many quads on
 * their way at once, each as long as the way to L2 and back.
 */
enum { JOINED_BYTES = 256 << 10, ON_THEIR_WAY = 8, JOINED_TURNS = 16 };

template <class TILE> constexpr int QUADS_TOGETHER = TILE::QUADS < ON_THEIR_WAY ? TILE::QUADS : ON_THEIR_WAY;

/* The tiles for operands of an element, and what a product costs in them beside each other; loose: see gemm_loose. */
typedef enum { SMALL, SQUARE, WIDE, TALL, TAPS } tile_shape;

template <class E> struct tiles {
    typedef tensor_tile<E, 32, 32, 2, 1> small;
    typedef tensor_tile<E, 64, 64, 2, 2> square, loose;
    enum { SMALL_COST = 20, SQUARE_COST = 14, WGMMA = 0 };
};
template <> struct tiles<float> {
    typedef gemm_tile<32, 32, 4, 4> small;
    typedef gemm_tile<64, 64, 8, 4> loose;
    typedef gemm_tile<64, 64, 8, 8> square;
    enum { SMALL_COST = 16, SQUARE_COST = 10, WGMMA = 0 };
};

/* Halves have larger ones beside them where the GPU has wgmma; costs are of a step twice as deep. */
template <class E> struct tiles_of_halves {
    typedef tensor_tile<E, 32, 32, 2, 1> small;
    typedef tensor_tile<E, 64, 64, 2, 2> square, loose;
    typedef hopper_tile<E, 128, 128, 2, 1> wide;
    typedef hopper_tile<E, 128, 64, 2, 1> tall;
    enum { SMALL_COST = 20, SQUARE_COST = 14, WIDE_COST = 10, TALL_COST = 14, WGMMA = 1 };
};
template <> struct tiles<f16> : tiles_of_halves<f16> {
};
template <> struct tiles<bf16> : tiles_of_halves<bf16> {
};

typedef struct {
    int64_t m, n, k;
    int64_t tiles_m, tiles_n;
    int64_t splits, split_depth; /* split_depth: whole steps */
    int64_t pitch;               /* of a row of partial products: n rounded up to quads */
    tile_shape shape;
} gemm_plan;

template <class TILE> static inline void cut_tiles(gemm_plan *p)
{
    p->tiles_m = divide_up(p->m, TILE::M);
    p->tiles_n = divide_up(p->n, TILE::N);
}

/* Whether the last block of a tile adds the splits. */
template <class TILE> static inline bool joins_itself(const gr_exec *exec, const gemm_plan *p)
{
    const int64_t tiles = p->tiles_m * p->tiles_n, busiest = divide_up(tiles, exec->multiprocessors) * p->splits;
    return p->splits > 1 && tiles <= GR_ARRIVALS && TILE::QUADS / QUADS_TOGETHER<TILE> * p->splits <= JOINED_TURNS &&
           busiest * TILE::M * TILE::N * (int64_t)sizeof(float) <= JOINED_BYTES;
}

/* A plan, and how long the busiest of so many multiprocessors works by it, in units of no meaning. */
typedef struct {
    gemm_plan plan;
    int multiprocessors;
    int64_t time;
} gemm_choice;

/* Takes TILE and a number of splits, where that is faster. */
template <class TILE> static inline void try_tile(gemm_choice *best, tile_shape shape, int cost, int step)
{
    gemm_plan p = best->plan;
    p.shape = shape;
    cut_tiles<TILE>(&p);
    const int64_t tiles = p.tiles_m * p.tiles_n, steps = p.k > 0 ? divide_up(p.k, step) : 1;
    for (int64_t splits = 1;
         splits == 1 || (tiles * splits <= MOST_ROUNDS * best->multiprocessors && splits * LEAST_STEPS <= steps);
         splits++) {
        const int64_t length = divide_up(steps, splits); /* of a split, in steps */
        p.splits = divide_up(steps, length), p.split_depth = length * step;
        const int64_t threads = divide_up(tiles * p.splits, best->multiprocessors) * TILE::THREADS;
        const int64_t time = (threads + IDLE) * TILE::QUADS * cost * (length + BEGIN + (p.splits > 1 ? JOIN : 0));
        if (time < best->time)
            best->plan = p, best->time = time;
    }
}

/* Takes the tile of that shape for operands of E, where it is faster. */
template <class E> static inline void try_shape(gemm_choice *best, tile_shape shape)
{
    typedef tiles<E> OF;
    if (shape == SQUARE)
        try_tile<typename OF::square>(best, shape, OF::SQUARE_COST, DEPTH<E>);
    if (shape == SMALL)
        try_tile<typename OF::small>(best, shape, OF::SMALL_COST, DEPTH<E>);
    if constexpr (OF::WGMMA) {
        if (shape == WIDE)
            try_tile<typename OF::wide>(best, shape, OF::WIDE_COST, PAIR * DEPTH<E>);
        if (shape == TALL)
            try_tile<typename OF::tall>(best, shape, OF::TALL_COST, PAIR * DEPTH<E>);
    }
}

/* A product that is still to be cut: anything is faster. */
static inline gemm_choice gemm_uncut(const gr_exec *exec, int64_t m, int64_t n, int64_t k)
{
    gemm_choice c = {{}, exec->multiprocessors, INT64_MAX};
    c.plan.m = m, c.plan.n = n, c.plan.k = k, c.plan.pitch = divide_up(n, QUAD) * QUAD;
    return c;
}

/* The fastest of all tiles for operands of E. */
template <class E> static inline gemm_choice gemm_best(const gr_exec *exec, int64_t m, int64_t n, int64_t k)
{
    gemm_choice best = gemm_uncut(exec, m, n, k);
    try_shape<E>(&best, SQUARE);
    try_shape<E>(&best, SMALL);
    if (exec->wgmma) {
        try_shape<E>(&best, WIDE);
        try_shape<E>(&best, TALL);
    }
    return best;
}

template <class E> static inline gemm_plan gemm_cut(const gr_exec *exec, int64_t m, int64_t n, int64_t k)
{
    return gemm_best<E>(exec, m, n, k).plan;
}

/* Bytes of scratch for the partial products. */
static inline size_t plan_scratch(const gemm_plan *p)
{
    return p->splits > 1 ? (size_t)(p->splits * p->m * p->pitch) * sizeof(float) : 0;
}
template <class E> static inline size_t gemm_scratch(const gr_exec *exec, int64_t m, int64_t n, int64_t k)
{
    const gemm_plan p = gemm_cut<E>(exec, m, n, k);
    return plan_scratch(&p);
}

#endif
