/*
 * gemm_tile.cuh - a block's tile of a matrix product: c[m,n] = sum_k a(m,k) b(k,n), in float, by fused multiply-adds.
 *
 * A block makes a tile of M x N results; k, the depth, passes in steps of 16, which strip.cuh brings to shared memory.
 * A thread multiplies ROWS rows by COLUMNS columns, four depths at a time: it reads ROWS + COLUMNS pieces of four
 * floats from shared memory for 4 x ROWS x COLUMNS multiply-adds. A piece is four depths of a line or four lines of a
 * depth, as it lay in memory; either way four of them are 4 lines x 4 depths. A warp is 4 x 8 threads, so one read of
 * 16 bytes by all its lanes touches at most 128 different bytes. Neighbouring lanes have the same columns, and those
 * that are two apart the same rows: then it takes two turns of shared memory instead of four.
 *
 * Where a and b come from is the matter of operands: operand.cuh, share.cuh. A kind of tile is known by
 *   tile_product(TILE(), sum, &a, &b, m, n, first, end)   this thread's quads of results, sum[TILE::QUADS]
 *   tile_row(TILE(), i), tile_column(TILE(), i)           where quad i begins, in the tile
 *   TILE::M, N, THREADS                                   its extents, and a block's threads
 *   TILE::BLOCKS, BLOCKS_COPIED                           blocks that a multiprocessor shall hold, of any operands and
 *                                                         of those that are copied
 *
 * Order     every result is one sum in the order of k.
 * Shared    3 x 16 x 17/16 (M + N) floats, 25.5 KiB for 64 x 64.
 * Registers ROWS x COLUMNS sums, 4 (4 + COLUMNS) factors, 4 for each piece on its way that is not copied: below 128,
 *           168 with these, or 256 with 8 x 8 results, so that a multiprocessor holds 512, 384 or 256 threads.
 */
#ifndef GRADUS_GEMM_TILE_CUH
#define GRADUS_GEMM_TILE_CUH

#include "kernels/cuda/strip.cuh"

/* M x N results, each thread ROWS x COLUMNS of them, in quads: every M / DOWN rows and N / ACROSS columns four. */
template <int M_, int N_, int ROWS, int COLUMNS> struct gemm_tile {
    static const int M = M_, N = N_, QUADS = ROWS * COLUMNS / QUAD, THREADS = M_ * N_ / (ROWS * COLUMNS);
    static const int BLOCKS = MOST_THREADS * (QUADS > 8 ? 2 : 3) / 4 / THREADS;
    static const int BLOCKS_COPIED = MOST_THREADS / (QUADS > 8 ? 2 : 1) / THREADS;
    static const int DOWN = ROWS / QUAD, ACROSS = COLUMNS / QUAD, WARPS_N = N_ / COLUMNS / 8;
};

/* This thread's place among the threads of a tile. */
template <class TILE> GR_DEVICE int tile_thread_m(void)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp / TILE::WARPS_N * 4 + lane / 16 * 2 + lane % 2;
}
template <class TILE> GR_DEVICE int tile_thread_n(void)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp % TILE::WARPS_N * 8 + lane / 2 % 8;
}

/* Row and first column, in the tile, of this thread's i-th quad of results. */
template <int M, int N, int ROWS, int COLUMNS> GR_DEVICE int tile_row(gemm_tile<M, N, ROWS, COLUMNS>, int i)
{
    typedef gemm_tile<M, N, ROWS, COLUMNS> TILE;
    const int row = i / TILE::ACROSS;
    return row / QUAD * (M / TILE::DOWN) + tile_thread_m<TILE>() * QUAD + row % QUAD;
}
template <int M, int N, int ROWS, int COLUMNS> GR_DEVICE int tile_column(gemm_tile<M, N, ROWS, COLUMNS>, int i)
{
    typedef gemm_tile<M, N, ROWS, COLUMNS> TILE;
    return i % TILE::ACROSS * (N / TILE::ACROSS) + tile_thread_n<TILE>() * QUAD;
}

/* f[4] = 4 lines x 4 depths of a strip. */
template <class STRIP> GR_DEVICE void factors_load(quad *f, const STRIP *from, int line, int depth)
{
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        const int place = STRIP::SIDE_BY_SIDE ? strip_place<STRIP>(depth + i, line / QUAD)
                                              : strip_place<STRIP>(line + i, depth / QUAD);
        f[i] = quad_whole((const float *)&from->at[place]);
    }
}

/* That of a line and a depth among them. */
template <class STRIP> GR_DEVICE float factor(const quad *f, int line, int depth)
{
    return STRIP::SIDE_BY_SIDE ? f[depth].at[line] : f[line].at[depth];
}

/* sum[QUADS] += a b, this thread's part of a step. */
template <int M, int N, int ROWS, int COLUMNS, class STRIP_A, class STRIP_B>
GR_DEVICE void strip_multiply(gemm_tile<M, N, ROWS, COLUMNS>, quad *sum, const STRIP_A *a, const STRIP_B *b)
{
    typedef gemm_tile<M, N, ROWS, COLUMNS> TILE;
    const int m = tile_thread_m<TILE>() * QUAD, n = tile_thread_n<TILE>() * QUAD;
#pragma unroll
    for (int depth = 0; depth < STRIP_A::STEP; depth += QUAD) {
        quad right[TILE::ACROSS][QUAD];
#pragma unroll
        for (int across = 0; across < TILE::ACROSS; across++)
            factors_load(right[across], b, across * (N / TILE::ACROSS) + n, depth);
#pragma unroll
        for (int down = 0; down < TILE::DOWN; down++) {
            quad left[QUAD];
            factors_load(left, a, down * (M / TILE::DOWN) + m, depth);
#pragma unroll
            for (int k = 0; k < QUAD; k++)
#pragma unroll
                for (int i = 0; i < QUAD * TILE::ACROSS; i++)
#pragma unroll
                    for (int j = 0; j < QUAD; j++)
                        sum[down * QUAD * TILE::ACROSS + i].at[j] +=
                            factor<STRIP_A>(left, i / TILE::ACROSS, k) * factor<STRIP_B>(right[i % TILE::ACROSS], j, k);
        }
    }
}

/*
 * sum[QUADS] = this thread's part of the tile at row m and column n, over depths first to end; first is a whole number
 * of steps. All threads of the block must come. Afterwards nobody reads the strips any more.
 */
template <int M, int N, int ROWS, int COLUMNS, class A, class B>
GR_DEVICE void tile_product(gemm_tile<M, N, ROWS, COLUMNS>, quad *sum, const A *a, const B *b, int64_t m, int64_t n,
                            int64_t first, int64_t end)
{
    typedef gemm_tile<M, N, ROWS, COLUMNS> TILE;
#pragma unroll
    for (int i = 0; i < TILE::QUADS; i++)
        sum[i] = (quad){{0, 0, 0, 0}};
    strips_product(TILE(), sum, a, b, m, n, first, end);
}

#endif
