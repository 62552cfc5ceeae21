/*
 * half_tile.cuh - a block's tile of a matrix product of halves on tensor cores: c[m,n] = sum_k a(m,k) b(k,n), with
 * float sums.
 *
 * A block of 8 warps makes a tile of M x N results, WARPS_M warps along its rows; k, the depth, passes in steps of 32.
 * A warp makes its part of the tile by mma.m16n8k16: per 16 of k it loads its rows of a and its columns of b from
 * shared memory into fragments by ldmatrix, then multiplies each with each.
 *
 * Shared memory holds three steps. A piece of 16 bytes goes there as it comes from memory, by cp.async where it can be
 * copied as it is, else through registers; so the tile of an operand is
 *   [line][4 pieces of depth]     where neighbours are depths of one line
 *   [depth][LINES / 8 pieces]     where neighbours are lines of one depth: ldmatrix transposes what it loads
 * While a step is multiplied, the two after it are on their way. One barrier a step.
 *
 * Banks     ldmatrix reads eight pieces of eight successive rows at a time. Piece p of row r lies at place p xor (r, in
 *           rows of 128 bytes), so that these eight, and eight neighbours of one row, lie in different banks.
 * Results   a fragment leaves two neighbours of two rows in each thread; pairs of threads swap so that each has four of
 *           one.
 * Order     every result is one sum over the 16 products of an mma, then over the mmas in the order of k.
 * Shared    3 x 64 x (M + N) bytes, 48 KiB for 128 x 128.
 * Registers 4 sums for each 16 x 8 of a warp's part, 64 for 128 x 128; 24 of fragments; 4 for each piece on its way.
 */
#ifndef GRADUS_HALF_TILE_CUH
#define GRADUS_HALF_TILE_CUH

#include "kernels/cuda/operand.cuh"

enum { HALF_WARPS = 8, HALF_THREADS = 32 * HALF_WARPS, STAGES = 3, EIGHT = 8 /* halves in a piece */, HALF_DEPTH = 32 };

/* M x N results from halves of type H. */
template <class H, int M_, int N_, int WARPS_M_> struct half_tile {
    static const int M = M_, N = N_, WARPS_M = WARPS_M_, WARPS_N = HALF_WARPS / WARPS_M_;
    static const int WARP_M = M / WARPS_M, WARP_N = N / WARPS_N;         /* a warp's part */
    static const int ROWS = WARP_M / 16, COLUMNS = WARP_N / 8;           /* of its fragments */
    static const int QUADS = ROWS * COLUMNS, BLOCKS = QUADS > 4 ? 1 : 2; /* of results, one from each fragment */
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
template <class H, int M, int N, int WARPS_M> GR_DEVICE int tile_row(half_tile<H, M, N, WARPS_M>, int i)
{
    typedef half_tile<H, M, N, WARPS_M> TILE;
    const int lane = threadIdx.x % 32;
    return warp_row<TILE>() + i / TILE::COLUMNS * 16 + lane / 4 + lane % 2 * 8;
}
template <class H, int M, int N, int WARPS_M> GR_DEVICE int tile_column(half_tile<H, M, N, WARPS_M>, int i)
{
    typedef half_tile<H, M, N, WARPS_M> TILE;
    return warp_column<TILE>() + i % TILE::COLUMNS * 8 + threadIdx.x % 4 / 2 * QUAD;
}

/* The pieces of an operand's LINES x HALF_DEPTH, as rows of ACROSS. */
template <class OPERAND, int LINES> struct strip {
    static const int ACROSS = (OPERAND::LINES_SIDE_BY_SIDE ? LINES : (int)HALF_DEPTH) / EIGHT;
    static const int PIECES = LINES * HALF_DEPTH / EIGHT, MINE = (PIECES + HALF_THREADS - 1) / HALF_THREADS;
    piece<typename OPERAND::element> at[PIECES];
};

/* Where the piece at place across of a row lies in a strip. */
template <class STRIP> GR_DEVICE int strip_place(int row, int across)
{
    enum { TURN = STRIP::ACROSS < 8 ? STRIP::ACROSS : 8 /* rows of 128 bytes after which places repeat */ };
    return row * STRIP::ACROSS + (across ^ row * TURN / 8 % TURN);
}

/* What one thread brings of a strip. */
template <class OPERAND, int LINES> struct half_share {
    typedef strip<OPERAND, LINES> STRIP;
    typename OPERAND::cursor from[STRIP::MINE];
    piece<typename OPERAND::element> held[STRIP::MINE];
};

/* This thread's i-th piece has number n of the strip; the last threads of a small one have none. */
#define FOR_MY_PIECES(STRIP, i, n)                                                                     \
    _Pragma("unroll") for (int i = 0, n = threadIdx.x; i < STRIP::MINE; i++, n += HALF_THREADS) if (n < STRIP::PIECES)

/* Depth, in the strip, of piece n. */
template <class OPERAND, int LINES> GR_DEVICE int strip_depth(int n)
{
    typedef strip<OPERAND, LINES> STRIP;
    return OPERAND::LINES_SIDE_BY_SIDE ? n / STRIP::ACROSS : n % STRIP::ACROSS * EIGHT;
}

template <class OPERAND, int LINES>
GR_DEVICE void half_open(half_share<OPERAND, LINES> *share, const OPERAND *o, int64_t line, int64_t depth)
{
    typedef strip<OPERAND, LINES> STRIP;
    FOR_MY_PIECES(STRIP, i, n)
    {
        const int mine = OPERAND::LINES_SIDE_BY_SIDE ? n % STRIP::ACROSS * EIGHT : n / STRIP::ACROSS;
        operand_open(o, &share->from[i], line + mine, depth + strip_depth<OPERAND, LINES>(n));
    }
}

/* A step's pieces: sent to the strip, or into registers. */
template <class OPERAND, int LINES>
GR_DEVICE void half_fetch(half_share<OPERAND, LINES> *share, strip<OPERAND, LINES> *to, const OPERAND *o, int64_t depth)
{
    typedef strip<OPERAND, LINES> STRIP;
    if constexpr (OPERAND::DIRECT)
        if (operand_direct(o)) {
            FOR_MY_PIECES(STRIP, i, n)
            {
                int inside;
                const void *from = operand_place(o, &share->from[i], depth + strip_depth<OPERAND, LINES>(n), &inside);
                gr_cp_async16(&to->at[strip_place<STRIP>(n / STRIP::ACROSS, n % STRIP::ACROSS)], from, 2 * inside);
            }
            return;
        }
    FOR_MY_PIECES(STRIP, i, n)
        share->held[i] = operand_next(o, &share->from[i], depth + strip_depth<OPERAND, LINES>(n));
}

/* What is in registers, into the strip. */
template <class OPERAND, int LINES>
GR_DEVICE void half_put(const half_share<OPERAND, LINES> *share, strip<OPERAND, LINES> *to, const OPERAND *o)
{
    typedef strip<OPERAND, LINES> STRIP;
    if (operand_direct(o))
        return;
    FOR_MY_PIECES(STRIP, i, n)
        to->at[strip_place<STRIP>(n / STRIP::ACROSS, n % STRIP::ACROSS)] = share->held[i];
}

/*
 * r[0..3] = the four 8 x 8 matrices of lines line to line + 15 and depths depth to depth + 15: 0 the first of both; 3
 * the last of both; 1 the last lines (LINES_FIRST) or the last depths. In each register neighbours are depths.
 */
template <bool LINES_FIRST, class OPERAND, int LINES>
GR_DEVICE void fragments_load(uint32_t r[4], const strip<OPERAND, LINES> *from, int line, int depth)
{
    typedef strip<OPERAND, LINES> STRIP;
    const int lane = threadIdx.x % 32, matrix = lane / 8;
    line += (LINES_FIRST ? matrix % 2 : matrix / 2) * EIGHT;
    depth += (LINES_FIRST ? matrix / 2 : matrix % 2) * EIGHT;
    if (OPERAND::LINES_SIDE_BY_SIDE)
        gr_ldmatrix_x4_trans(r, &from->at[strip_place<STRIP>(depth + lane % 8, line / EIGHT)]);
    else
        gr_ldmatrix_x4(r, &from->at[strip_place<STRIP>(line + lane % 8, depth / EIGHT)]);
}

GR_DEVICE void multiply_fragments(f16, float d[4], const uint32_t a[4], const uint32_t b[2])
{
    gr_mma_f16(d, a, b);
}
GR_DEVICE void multiply_fragments(bf16, float d[4], const uint32_t a[4], const uint32_t b[2])
{
    gr_mma_bf16(d, a, b);
}

/* sum[ROWS][COLUMNS] += a b, this warp's part of a step */
template <class TILE, class A, class B>
GR_DEVICE void half_multiply(quad sum[TILE::ROWS][TILE::COLUMNS], const strip<A, TILE::M> *a,
                             const strip<B, TILE::N> *b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll 1 /* two loads of fragments at a time would need more registers than sm_75's longer code leaves */
#else
#pragma unroll
#endif
    for (int depth = 0; depth < HALF_DEPTH; depth += 16) {
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
                multiply_fragments(typename A::element(), sum[i][j].at, left[i], right[j / 2] + j % 2 * 2);
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
template <class H, int M, int N, int WARPS_M, class A, class B>
GR_DEVICE void tile_product(half_tile<H, M, N, WARPS_M>, quad *sum, const A *a, const B *b, int64_t m, int64_t n,
                            int64_t first, int64_t end)
{
    typedef half_tile<H, M, N, WARPS_M> TILE;
    typedef strip<A, M> STRIP_A;
    typedef strip<B, N> STRIP_B;
    GR_SHARED(STRIP_A, strip_a, [STAGES]);
    GR_SHARED(STRIP_B, strip_b, [STAGES]);
    half_share<A, M> of_a = {};
    half_share<B, N> of_b = {};
    quad part[TILE::ROWS][TILE::COLUMNS] = {};
    half_open(&of_a, a, m, first);
    half_open(&of_b, b, n, first);
    int64_t next = first; /* the depth that is fetched next */
    int stage = 0;        /* and where to */
    for (; stage < STAGES - 1; stage++, next += HALF_DEPTH) {
        if (next < end) {
            half_fetch(&of_a, &strip_a[stage], a, next);
            half_fetch(&of_b, &strip_b[stage], b, next);
            half_put(&of_a, &strip_a[stage], a);
            half_put(&of_b, &strip_b[stage], b);
        }
        gr_cp_async_commit();
    }
    int now = 0;
    for (int64_t depth = first; depth < end; depth += HALF_DEPTH, next += HALF_DEPTH) {
        gr_cp_async_wait<STAGES - 2>(); /* this step's copies have come, after the barrier those of all threads */
        __syncthreads();                /* and the stage before this one has been read by all */
        if (next < end) {
            half_fetch(&of_a, &strip_a[stage], a, next);
            half_fetch(&of_b, &strip_b[stage], b, next);
        }
        gr_cp_async_commit();
        half_multiply<TILE, A, B>(part, &strip_a[now], &strip_b[now]);
        if (next < end) {
            half_put(&of_a, &strip_a[stage], a);
            half_put(&of_b, &strip_b[stage], b);
        }
        now = now + 1 < STAGES ? now + 1 : 0;
        stage = stage + 1 < STAGES ? stage + 1 : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE::QUADS; i++)
        sum[i] = swap_pairs(part[i / TILE::COLUMNS][i % TILE::COLUMNS]);
}

#endif
