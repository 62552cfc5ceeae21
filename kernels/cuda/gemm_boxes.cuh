/*
 * gemm_boxes.cuh - products of halves whose lines are positions and whose operands TMA brings: tiles, splits of k, and
 * what becomes of the sums, as gemm.cuh has them.
 *
 *   gemm_boxes   block (split, row tile, column tile): results or, where k is split, partials, which the last block of
 *                a tile to come adds in order where joins_itself says so, else gemm_join
 */
#ifndef GRADUS_GEMM_BOXES_CUH
#define GRADUS_GEMM_BOXES_CUH

#include "kernels/cuda/box_tile.cuh"
#include "kernels/cuda/gemm.cuh"

template <class E> struct box_tiles {
    typedef box_tile<E, 128> wide;
    typedef box_tile<E, 64> tall;
    enum { WIDE_COST = 8, TALL_COST = 11 }; /* beside those of tiles<E> */
};

/* Takes the tile of that shape, where it is faster. */
template <class E> static inline void try_boxes(gemm_choice *best, tile_shape shape)
{
    typedef box_tiles<E> OF;
    if (shape == WIDE)
        try_tile<typename OF::wide::RESULTS>(best, shape, OF::WIDE_COST, BOX);
    if (shape == TALL)
        try_tile<typename OF::tall::RESULTS>(best, shape, OF::TALL_COST, BOX);
}

/*
 * Cuts a product of m lines, in boxes that have so many, n columns and depth k into tiles whose operands come in boxes;
 * false: others are faster.
 */
template <class E>
static inline bool cut_boxes(const gr_exec *exec, int64_t m, int64_t lines, int64_t n, int64_t k, gemm_plan *plan)
{
    const int64_t other = gemm_best<E>(exec, m, n, k).time;
    gemm_choice best = gemm_uncut(exec, lines, n, k);
    best.time = other;
    try_boxes<E>(&best, WIDE);
    try_boxes<E>(&best, TALL);
    *plan = best.plan;
    plan->m = m;
    return best.time < other;
}

/* What a block does: a tile, of these rows and columns of tiles, over these steps. */
typedef struct {
    unsigned split, tile;
    int row, column;
    int first, end;
} box_share;

GR_DEVICE box_share box_share_of(const gemm_plan *p, unsigned number)
{
    const unsigned tiles_m = (unsigned)p->tiles_m, tiles_n = (unsigned)p->tiles_n, tiles = tiles_m * tiles_n;
    const unsigned split = number / tiles, tile = number - split * tiles;
    const bool down = tiles_m < tiles_n; /* those go fastest of which there are fewer */
    const unsigned fewer = down ? tiles_m : tiles_n, slow = tile / fewer, fast = tile - slow * fewer;
    const int length = (int)p->split_depth / BOX, first = (int)split * length, steps = (int)p->k / BOX;
    const int end = first + length < steps ? first + length : steps;
    return {split, tile, (int)(down ? fast : slow), (int)(down ? slow : fast), first, end};
}

/* Where a row of results lies, and in what: worked out once, as a thread has one row. */
template <class TO> GR_DEVICE int64_t result_row(const TO *, int64_t row)
{
    return row;
}
template <class TO> GR_DEVICE const TO *rows_of(const TO *to)
{
    return to;
}
template <class E> GR_DEVICE int64_t result_row(const phase_result<E> *to, int64_t row)
{
    return pixel_spot(to, spot{row, 0, 0, true}).row;
}
template <class E> GR_DEVICE const gradient_result<E> *rows_of(const phase_result<E> *to)
{
    return &to->dx;
}

/* Writes this thread's row of results, columns n and on. */
template <class TILE, class TO>
GR_DEVICE void row_finish(const TO *to, quad *sum, int64_t row, int64_t n, const gemm_plan *p)
{
    const int inside = tile_row(typename TILE::RESULTS(), 0);
    gemm_plan there = *p;
    there.m = INT64_MAX; /* rows are where results lie from here on */
    tile_finish<TILE>(rows_of(to), sum, result_row(to, row) - inside, n, &there, true);
}

/*
 * Writes what a block has multiplied, or leaves it for the last block of its tile to come, which writes all. row: of
 * this thread's results, if it is one. All threads of the block come.
 */
template <class TILE, class TO>
GR_DEVICE void boxes_finish(const TO *to, quad *sum, float *partial, unsigned *arrivals, const box_share *share,
                            int64_t row, int64_t n, const gemm_plan *p)
{
    const int inside = tile_row(typename TILE::RESULTS(), 0);
    const int64_t m = row - inside; /* where the tile would begin if lines were rows */
    const bool mine = row < p->m;
    if (p->splits > 1) {
        if (mine)
            tile_partial<TILE>(partial + share->split * p->m * p->pitch, sum, m, n, p);
        if (!arrivals || !last_to_come(arrivals + share->tile, (unsigned)p->splits))
            return;
        if (mine)
            tile_join<TILE>(sum, partial, m, n, (unsigned)(row * p->pitch + n), p);
    }
    if (mine)
        row_finish<TILE>(to, sum, row, n, p);
}

/* A product of boxes. */
typedef struct {
    gemm_plan plan;
    radices depths; /* by which a step's number has its digits */
    box_begin begin;
    float *partial;     /* [splits][m][pitch], where there are splits */
    unsigned *arrivals; /* [tiles], where their last blocks add them, else NULL */
} box_plan;

/* What its block of that number does. */
template <class TILE, class A, class B, class TO>
GR_DEVICE void box_block(const A *a, const B *b, const TO *to, const box_plan *p, unsigned number)
{
    const box_share share = box_share_of(&p->plan, number);
    const int n = share.column * TILE::N;
    quad sum[TILE::QUADS];
    box_product(TILE(), sum, a, b, &p->begin, share.row * TILE::M, n, share.first, share.end, p->depths);
    const int64_t row = box_position(&a->positions, share.row, tile_row(typename TILE::RESULTS(), 0));
    boxes_finish<TILE>(to, sum, p->partial, p->arrivals, &share, row, n, &p->plan);
}

template <class TILE, class A, class B, class TO>
static __global__ void __launch_bounds__(TILE::THREADS, BOX_BLOCKS)
    gemm_boxes(const __grid_constant__ A a, const __grid_constant__ B b, TO to, box_plan p)
{
    box_block<TILE>(&a, &b, &to, &p, blockIdx.x);
}

template <class TILE, class A, class B, class TO>
static void boxes_launch(const gr_exec *exec, const A &a, const B &b, const TO &to, box_plan p)
{
    const bool itself = joins_itself<TILE>(exec, &p.plan);
    const size_t bytes = sizeof(box_rings<TILE, A, B>);
    p.partial = (float *)exec->scratch, p.arrivals = itself ? exec->arrivals : NULL;
    GR_ALLOW_SHARED((gemm_boxes<TILE, A, B, TO>), bytes);
    GR_LAUNCH((gemm_boxes<TILE, A, B, TO>), (unsigned)(p.plan.tiles_m * p.plan.tiles_n * p.plan.splits), TILE::THREADS,
              bytes, exec->queue, a, b, to, p);
    join_launch(exec, parts_left(exec, to, p.plan, itself));
}

#endif
