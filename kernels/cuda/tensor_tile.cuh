/*
 * tensor_tile.cuh - a block's tile of a matrix product on tensor cores: c[m,n] = sum_k a(m,k) b(k,n), of f16, of bf16,
 * or of floats that are rounded to tf32; with float sums.
 *
 * A block makes a tile of M x N results, WARPS_M warps along its rows and WARPS_N along its columns; k, the depth,
 * passes in steps of 64 bytes: 32 halves or 16 floats. A warp makes its part of the tile by mma.m16n8k16 (tf32:
 * m16n8k8), 32 bytes of k at a time: it loads its rows of a and its columns of b from shared memory into fragments,
 * then multiplies each with each.
 *
 * strip.cuh holds the steps: ldmatrix loads four fragments from [line][4 pieces of depth], and does not mind whether a
 * row of 16 bytes is 8 halves or 4 floats; from [depth][pieces of all lines] it transposes halves as it loads, and
 * floats are loaded one by one.
 *
 * Rounding  tensor cores look at the first 19 bits of a float. It is rounded to them, to the nearest and ties away from
 *           0, when it has been loaded into a fragment, so every float that is multiplied is, wherever it came from.
 * Results   a fragment leaves two neighbours of two rows in each thread; pairs of threads swap so that each has four of
 *           one.
 * Order     every result is one sum over the 16 (tf32: 8) products of an mma, then over the mmas in the order of k.
 * Shared    3 x 64 x (M + N) bytes, 24 KiB for 64 x 64.
 * Registers 4 sums for each 16 x 8 of a warp's part, 32 for 64 x 64; 16 of fragments; 4 for each piece on its way.
 */
#ifndef GRADUS_TENSOR_TILE_CUH
#define GRADUS_TENSOR_TILE_CUH

#include "kernels/cuda/strip.cuh"

enum { EIGHT = 8 /* rows of a matrix of ldmatrix */ };

/* M x N results from elements of type E. */
template <class E, int M_, int N_, int WARPS_M_, int WARPS_N_> struct tensor_tile {
    typedef E element;
    static const int M = M_, N = N_, WARPS_M = WARPS_M_, WARPS_N = WARPS_N_, THREADS = 32 * WARPS_M_ * WARPS_N_;
    static const int WARP_M = M / WARPS_M, WARP_N = N / WARPS_N; /* a warp's part */
    static const int ROWS = WARP_M / 16, COLUMNS = WARP_N / 8;   /* of its fragments */
    static const int QUADS = ROWS * COLUMNS;                     /* of results, one from each fragment */
    static const int BLOCKS = MOST_THREADS / THREADS / (QUADS > 4 ? 2 : 1);
    static const int BLOCKS_COPIED = MOST_THREADS / THREADS / (QUADS > 8 ? 2 : 1);
};

template <class TILE> GR_DEVICE int warp_row(void)
{
    return threadIdx.x / 32 / TILE::WARPS_N * TILE::WARP_M;
}
template <class TILE> GR_DEVICE int warp_column(void)
{
    return threadIdx.x / 32 % TILE::WARPS_N * TILE::WARP_N;
}

/* Row and first column, in the tile, of this thread's quad from fragment i. */
template <class E, int M, int N, int WARPS_M, int WARPS_N>
GR_DEVICE int tile_row(tensor_tile<E, M, N, WARPS_M, WARPS_N>, int i)
{
    typedef tensor_tile<E, M, N, WARPS_M, WARPS_N> TILE;
    const int lane = threadIdx.x % 32;
    return warp_row<TILE>() + i / TILE::COLUMNS * 16 + lane / 4 + lane % 2 * 8;
}
template <class E, int M, int N, int WARPS_M, int WARPS_N>
GR_DEVICE int tile_column(tensor_tile<E, M, N, WARPS_M, WARPS_N>, int i)
{
    typedef tensor_tile<E, M, N, WARPS_M, WARPS_N> TILE;
    return warp_column<TILE>() + i % TILE::COLUMNS * 8 + threadIdx.x % 4 / 2 * QUAD;
}

/* Where matrix i of four lies, in lines (in eights) and in depths (in pieces); see fragments_load. */
template <bool LINES_FIRST> GR_DEVICE int matrix_lines(int i)
{
    return LINES_FIRST ? i % 2 : i / 2;
}
template <bool LINES_FIRST> GR_DEVICE int matrix_depths(int i)
{
    return LINES_FIRST ? i / 2 : i % 2;
}

/* Tensor cores take halves as they are. */
template <class H> GR_DEVICE void round_fragments(H, uint32_t *)
{
}
GR_DEVICE void round_fragments(tf32, uint32_t r[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        r[i] = gr_tf32_bits(__uint_as_float(r[i]));
}

/*
 * r[0..3] = the four matrices of 8 lines x a piece of depths that lie from line and depth on, two by two: 0 the first
 * of both; 3 the last of both; 1 the last lines (LINES_FIRST) or the last depths. Lane l has line l / 4 of each, and of
 * its depths the 4 bytes from 4 (l % 4) on.
 */
template <bool LINES_FIRST, class OPERAND, int LINES, int THREADS>
GR_DEVICE void fragments_load(uint32_t r[4], const strip<OPERAND, LINES, THREADS> *from, int line, int depth)
{
    typedef strip<OPERAND, LINES, THREADS> STRIP;
    const int lane = threadIdx.x % 32;
    if constexpr (STRIP::ONE_BY_ONE) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int mine = line + matrix_lines<LINES_FIRST>(i) * EIGHT + lane / 4;
            const int row = depth + matrix_depths<LINES_FIRST>(i) * STRIP::COUNT + lane % 4;
            const float *words = (const float *)&from->at[strip_place<STRIP>(row, mine / STRIP::COUNT)];
            r[i] = __float_as_uint(words[mine % STRIP::COUNT]);
        }
    } else {
        line += matrix_lines<LINES_FIRST>(lane / 8) * EIGHT;
        depth += matrix_depths<LINES_FIRST>(lane / 8) * STRIP::COUNT;
        if (OPERAND::LINES_SIDE_BY_SIDE)
            gr_ldmatrix_x4_trans(r, &from->at[strip_place<STRIP>(depth + lane % 8, line / STRIP::COUNT)]);
        else
            gr_ldmatrix_x4(r, &from->at[strip_place<STRIP>(line + lane % 8, depth / STRIP::COUNT)]);
    }
    round_fragments(typename OPERAND::element(), r);
}

GR_DEVICE void multiply_fragments(f16, float d[4], const uint32_t a[4], const uint32_t b[2])
{
    gr_mma_f16(d, a, b);
}
GR_DEVICE void multiply_fragments(bf16, float d[4], const uint32_t a[4], const uint32_t b[2])
{
    gr_mma_bf16(d, a, b);
}
GR_DEVICE void multiply_fragments(tf32, float d[4], const uint32_t a[4], const uint32_t b[2])
{
    gr_mma_tf32(d, a, b);
}

/* sum[ROWS * COLUMNS] += a b, this warp's part of a step */
template <class E, int M, int N, int WARPS_M, int WARPS_N, class STRIP_A, class STRIP_B>
GR_DEVICE void strip_multiply(tensor_tile<E, M, N, WARPS_M, WARPS_N>, quad *sum, const STRIP_A *a, const STRIP_B *b)
{
    typedef tensor_tile<E, M, N, WARPS_M, WARPS_N> TILE;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll 1 /* two loads of fragments at a time would need more registers than sm_75's longer code leaves */
#else
#pragma unroll
#endif
    for (int depth = 0; depth < STRIP_A::STEP; depth += 2 * STRIP_A::COUNT) {
        uint32_t left[TILE::ROWS][4], right[TILE::COLUMNS / 2][4];
#pragma unroll
        for (int i = 0; i < TILE::ROWS; i++)
            fragments_load<true>(left[i], a, warp_row<TILE>() + 16 * i, depth);
#pragma unroll
        for (int j = 0; j < TILE::COLUMNS / 2; j++)
            fragments_load<false>(right[j], b, warp_column<TILE>() + 16 * j, depth);
#pragma unroll
        for (int i = 0; i < TILE::ROWS; i++)
#pragma unroll
            for (int j = 0; j < TILE::COLUMNS; j++)
                multiply_fragments(E(), sum[i * TILE::COLUMNS + j].at, left[i], right[j / 2] + j % 2 * 2);
    }
}

/*
 * From columns 2t, 2t+1 of rows g and g + 8 to columns 4 (t/2) on of row g, in odd threads of row g + 8. t = lane % 4
 */
GR_DEVICE quad swap_pairs(quad v)
{
    const bool odd = threadIdx.x % 2;
    const float first = __shfl_xor_sync(0xFFFFFFFFu, odd ? v.at[0] : v.at[2], 1);
    const float second = __shfl_xor_sync(0xFFFFFFFFu, odd ? v.at[1] : v.at[3], 1);
    return odd ? (quad){{first, second, v.at[2], v.at[3]}} : (quad){{v.at[0], v.at[1], first, second}};
}

/*
 * sum[QUADS] = this thread's part of the tile at row m and column n, over depths first to end; first is a whole number
 * of steps. All threads of the block must come. Afterwards nobody reads the shared tiles any more.
 */
template <class E, int M, int N, int WARPS_M, int WARPS_N, class A, class B>
GR_DEVICE void tile_product(tensor_tile<E, M, N, WARPS_M, WARPS_N>, quad *sum, const A *a, const B *b, int64_t m,
                            int64_t n, int64_t first, int64_t end)
{
    typedef tensor_tile<E, M, N, WARPS_M, WARPS_N> TILE;
    quad part[TILE::QUADS] = {};
    strips_product(TILE(), part, a, b, m, n, first, end);
#pragma unroll
    for (int i = 0; i < TILE::QUADS; i++)
        sum[i] = swap_pairs(part[i]);
}

#endif
