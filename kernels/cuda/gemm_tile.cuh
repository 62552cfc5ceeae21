/*
 * gemm_tile.cuh - a block's tile of a matrix product: c[m,n] = sum_k a(m,k) b(k,n), in float, by fused multiply-adds.
 *
 * A block makes a tile of M x N results; k, the depth, passes in steps of 16. Each step's part of a and
 * b lies in shared memory as [depth][line], where a's lines are the tile's rows and b's lines its columns. A thread
 * multiplies ROWS rows by 4 columns: it reads ROWS + 4 floats from shared memory for 4 ROWS multiply-adds. A warp is 4
 * x 8 threads, so one read of 16 bytes by all its lanes touches at most 128 different bytes.
 *
 * There are two buffers: while a step is multiplied, the next one is on its way from global memory into registers. They
 * go to the other buffer, then a barrier; one barrier a step.
 *
 * Where a and b come from is the matter of operands: operand.cuh, share.cuh. A kind of tile is known by
 *   tile_product(TILE(), sum, &a, &b, m, n, first, end)   this thread's quads of results, sum[TILE::QUADS]
 *   tile_row(TILE(), i), tile_column(TILE(), i)           where quad i begins, in the tile
 *   TILE::M, N, THREADS                                   its extents, and a block's threads
 *   TILE::BLOCKS, BLOCKS_COPIED                           blocks that a multiprocessor shall hold, of any operands and
 *                                                         of those that are copied
 *
 * Order     every result is one sum in the order of k.
 * Shared    2 x 16 x (M + N + 8) floats, 17 KiB for 64 x 64. Rows are 4 floats longer than the tile, so that writing
 *           depths of one line meets a bank twice instead of four times.
 * Registers 4 ROWS sums, ROWS + 4 factors, 4 for each quad on its way: below 128, two blocks on a multiprocessor.
 */
#ifndef GRADUS_GEMM_TILE_CUH
#define GRADUS_GEMM_TILE_CUH

#include "kernels/cuda/share.cuh"

enum { PAD = 4, FLOAT_DEPTH = DEPTH<float> };

/* M x N results, each thread ROWS x 4 of them. */
template <int M_, int N_, int ROWS_> struct gemm_tile {
    static const int M = M_, N = N_, ROWS = ROWS_, QUADS = ROWS_, THREADS = M_ * N_ / (ROWS_ * QUAD);
    static const int BLOCKS = MOST_THREADS / THREADS, BLOCKS_COPIED = BLOCKS;
    static const int GROUPS = ROWS_ / QUAD, WARPS_N = N_ / QUAD / 8;
};

/* This thread's place among the threads of a tile: rows and columns of 4 results. */
template <class TILE> GR_DEVICE int tile_thread_m(void)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp / TILE::WARPS_N * 4 + lane / 8;
}
template <class TILE> GR_DEVICE int tile_thread_n(void)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp % TILE::WARPS_N * 8 + lane % 8;
}

/* Row and first column, in the tile, of this thread's i-th quad of results. */
template <int M, int N, int ROWS> GR_DEVICE int tile_row(gemm_tile<M, N, ROWS>, int i)
{
    typedef gemm_tile<M, N, ROWS> TILE;
    return i / QUAD * (M / TILE::GROUPS) + tile_thread_m<TILE>() * QUAD + i % QUAD;
}
template <int M, int N, int ROWS> GR_DEVICE int tile_column(gemm_tile<M, N, ROWS>, int)
{
    return tile_thread_n<gemm_tile<M, N, ROWS>>() * QUAD;
}

/* From registers into tile[FLOAT_DEPTH][LINES + PAD]. */
template <class OPERAND, int LINES, int THREADS>
GR_DEVICE void share_put(const share<OPERAND, LINES, THREADS> *mine, float (*tile)[LINES + PAD])
{
    typedef share<OPERAND, LINES, THREADS> SHARE;
    FOR_MY_PIECES(SHARE, i, n)
    {
        const int line = share_line<SHARE>(n), depth = share_depth<SHARE>(n);
        const piece<float> v = mine->held[i];
        if (SHARE::SIDE_BY_SIDE) {
            *(float4 *)&tile[depth][line] = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
        } else {
            for (int j = 0; j < QUAD; j++)
                tile[depth + j][line] = v.at[j];
        }
    }
}

/* sum[ROWS] += a[FLOAT_DEPTH][M] b[FLOAT_DEPTH][N], this thread's part. */
template <class TILE>
GR_DEVICE void tile_multiply(quad *sum, const float (*a)[TILE::M + PAD], const float (*b)[TILE::N + PAD])
{
    const int m = tile_thread_m<TILE>() * QUAD, n = tile_thread_n<TILE>() * QUAD;
#pragma unroll
    for (int k = 0; k < FLOAT_DEPTH; k++) {
        const quad right = quad_inside(&b[k][n], QUAD, true);
#pragma unroll
        for (int group = 0; group < TILE::GROUPS; group++) {
            const quad left = quad_inside(&a[k][group * (TILE::M / TILE::GROUPS) + m], QUAD, true);
#pragma unroll
            for (int i = 0; i < QUAD; i++)
#pragma unroll
                for (int j = 0; j < QUAD; j++)
                    sum[group * QUAD + i].at[j] += left.at[i] * right.at[j];
        }
    }
}

/*
 * sum[ROWS] = this thread's part of the tile at row m and column n, over depths first to end; first is a multiple of
 * FLOAT_DEPTH. All threads of the block must come. Afterwards nobody reads the shared tiles any more.
 */
template <int M, int N, int ROWS, class A, class B>
GR_DEVICE void tile_product(gemm_tile<M, N, ROWS>, quad *sum, const A *a, const B *b, int64_t m, int64_t n,
                            int64_t first, int64_t end)
{
    typedef gemm_tile<M, N, ROWS> TILE;
    GR_SHARED(float, tile_a, [2][FLOAT_DEPTH][TILE::M + PAD]);
    GR_SHARED(float, tile_b, [2][FLOAT_DEPTH][TILE::N + PAD]);
    share<A, TILE::M, TILE::THREADS> of_a = {};
    share<B, TILE::N, TILE::THREADS> of_b = {};
#pragma unroll
    for (int i = 0; i < TILE::ROWS; i++)
        sum[i] = (quad){{0, 0, 0, 0}};
    share_open(&of_a, a, m, first);
    share_open(&of_b, b, n, first);
    share_fetch(&of_a, a);
    share_fetch(&of_b, b);
    share_put(&of_a, tile_a[0]);
    share_put(&of_b, tile_b[0]);
    __syncthreads();
    int now = 0;
    for (int64_t depth = first; depth < end; depth += FLOAT_DEPTH, now ^= 1) {
        const bool more = depth + FLOAT_DEPTH < end;
        if (more) {
            share_fetch(&of_a, a);
            share_fetch(&of_b, b);
        }
        tile_multiply<TILE>(sum, tile_a[now], tile_b[now]);
        if (more) {
            share_put(&of_a, tile_a[now ^ 1]);
            share_put(&of_b, tile_b[now ^ 1]);
        }
        __syncthreads();
    }
}

#endif
