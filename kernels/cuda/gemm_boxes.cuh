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

/*
 * Cuts a product of m lines, in boxes that have so many, n columns and depth k into tiles whose operands come in boxes;
 * false: others are faster.
 */
template <class E>
static inline bool cut_boxes(const gr_exec *exec, int64_t m, int64_t lines, int64_t n, int64_t k, gemm_plan *plan)
{
    typedef box_tiles<E> OF;
    const int64_t other = gemm_best<E>(exec, m, n, k).time;
    gemm_choice best = {{}, exec->multiprocessors, other};
    best.plan.m = lines, best.plan.n = n, best.plan.k = k, best.plan.pitch = n;
    try_tile<typename OF::wide::RESULTS>(&best, WIDE, OF::WIDE_COST, BOX);
    try_tile<typename OF::tall::RESULTS>(&best, TALL, OF::TALL_COST, BOX);
    *plan = best.plan;
    plan->m = m;
    return best.time < other;
}

/* What a block does: a tile, of these rows and columns of tiles, over these steps. */
typedef struct {
    unsigned split, tile;
    int row, column;
    int first, end;
} box_block;

GR_DEVICE box_block this_block(const gemm_plan *p)
{
    const unsigned tiles_m = (unsigned)p->tiles_m, tiles_n = (unsigned)p->tiles_n, tiles = tiles_m * tiles_n;
    const unsigned split = blockIdx.x / tiles, tile = blockIdx.x - split * tiles;
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

/*
 * Writes what a block has multiplied, or leaves it for the last block of its tile to come, which writes all. row: of
 * this thread's results, if it is one. All threads of the block come.
 */
template <class TILE, class TO>
GR_DEVICE void boxes_finish(const TO *to, quad *sum, float *partial, unsigned *arrivals, const box_block *block,
                            int64_t row, int64_t n, const gemm_plan *p)
{
    const int inside = tile_row(typename TILE::RESULTS(), 0);
    const int64_t m = row - inside; /* where the tile would begin if lines were rows */
    const bool mine = row < p->m;
    if (p->splits > 1) {
        if (mine)
            tile_partial<TILE>(partial + block->split * p->m * p->pitch, sum, m, n, p);
        if (!arrivals || !last_to_come(arrivals + block->tile, (unsigned)p->splits))
            return;
        if (mine)
            tile_join<TILE>(sum, partial, m, n, (unsigned)(row * p->pitch + n), p);
    }
    gemm_plan there = *p;
    there.m = INT64_MAX; /* rows are where results lie from here on */
    if (mine)
        tile_finish<TILE>(rows_of(to), sum, result_row(to, row) - inside, n, &there, true);
}

/* partial[splits][m][pitch], where there are splits; arrivals[tiles], where their last blocks add them, else NULL */
template <class TILE, class A, class B, class TO>
static __global__ void __launch_bounds__(TILE::THREADS, BOX_BLOCKS)
    gemm_boxes(const __grid_constant__ A a, const __grid_constant__ B b, TO to, gemm_plan p, radices depths,
               float *partial, unsigned *arrivals)
{
    const box_block block = this_block(&p);
    const int n = block.column * TILE::N;
    quad sum[TILE::QUADS];
    box_product(TILE(), sum, &a, &b, block.row * TILE::M, n, block.first, block.end, depths);
    const int64_t row = box_position(&a.positions, block.row, tile_row(typename TILE::RESULTS(), 0));
    boxes_finish<TILE>(&to, sum, partial, arrivals, &block, row, n, &p);
}

template <class TILE, class A, class B, class TO>
static void boxes_launch(const gr_exec *exec, const A &a, const B &b, const TO &to, const gemm_plan &p, radices depths)
{
    const bool itself = joins_itself<TILE>(exec, &p);
    const size_t bytes = sizeof(box_rings<TILE, A, B>);
    GR_ALLOW_SHARED((gemm_boxes<TILE, A, B, TO>), bytes);
    GR_LAUNCH((gemm_boxes<TILE, A, B, TO>), (unsigned)(p.tiles_m * p.tiles_n * p.splits), TILE::THREADS, bytes,
              exec->queue, a, b, to, p, depths, (float *)exec->scratch, itself ? exec->arrivals : NULL);
    if (p.splits > 1 && !itself)
        join_launch(exec, to, p);
}

#endif
