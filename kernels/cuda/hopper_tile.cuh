/*
 * hopper_tile.cuh - a block's tile of a matrix product by wgmma, the products of compute capability 9.0: c[m,n] =
 * sum_k a(m,k) b(k,n) of f16 or bf16, with float sums.
 *
 * A block makes M x N results in groups of four warps, GROUPS_M along its rows and GROUPS_N along its columns. A group
 * makes 64 rows and 64 or 128 columns by wgmma.m64nNk16, which reads both factors from shared memory itself: there are
 * no fragments of a and b, and no instructions that load them. A multiprocessor reads 64 rows of a for 128 columns of b
 * where tensor_tile.cuh's warps read 32 for 32, and shared memory is what holds those up.
 *
 * Steps     Two strips (strip.cuh) make a step of 64 halves of depth. Their places are those that wgmma wants of its
 *           operands: a line's depths, 64 bytes, swizzled among 64; or 64 lines of one depth, 128 bytes, swizzled among
 *           128. Shared memory holds three steps: one is multiplied, two are on their way. The tensor cores rest from
 *           the end of a step's products to the next one's: a multiprocessor's other block has them then.
 * Fences    cp.async writes as threads do, wgmma reads as TMA does: behind the wait for its copies each thread fences,
 *           and behind the barrier the warps multiply.
 * Order     every result is one sum over the 16 products of a wgmma, then over the wgmmas in the order of k.
 * Measured  H200, bf16, 3x3 convolutions of ResNet-18 at 128 samples: 180 to 335 TFLOP/s; tensor_tile.cuh 145 to 230.
 *           A warp issues 200 to 300 instructions a step, most for the copies' addresses, in which two blocks' products
 *           take 1024 cycles of the tensor cores.
 * Shared    3 x 128 x (M + N) bytes: 96 KiB for 128 x 128; two blocks to a multiprocessor.
 * Registers sums: M N / THREADS, 64 for 128 x 128.
 */
#ifndef GRADUS_HOPPER_TILE_CUH
#define GRADUS_HOPPER_TILE_CUH

#include "kernels/cuda/hopper.h"
#include "kernels/cuda/tensor_tile.cuh"

enum { PAIR = 2 /* strips of a step */, HOPPER_STAGES = 3, GROUP_ROWS = 64, WGMMA_DEPTH = 16, GROUP_THREADS = 128 };

/* M x N results from elements of type E. */
template <class E, int M_, int N_, int GROUPS_M_, int GROUPS_N_> struct hopper_tile {
    typedef E element;
    static const int M = M_, N = N_, GROUPS_N = GROUPS_N_, THREADS = GROUP_THREADS * GROUPS_M_ * GROUPS_N_;
    static const int COLUMNS = N / GROUPS_N; /* of a group */
    static const int QUADS = COLUMNS / 8;    /* of a thread's results */
    static const int BLOCKS = 2, BLOCKS_COPIED = 2;
    static_assert(M == GROUP_ROWS * GROUPS_M_, "a group makes 64 rows");
};

template <class TILE> GR_DEVICE int group_row(void)
{
    return threadIdx.x / GROUP_THREADS / TILE::GROUPS_N * GROUP_ROWS;
}
template <class TILE> GR_DEVICE int group_column(void)
{
    return threadIdx.x / GROUP_THREADS % TILE::GROUPS_N * TILE::COLUMNS;
}

/* Row and first column, in the tile, of this thread's quad i. */
template <class E, int M, int N, int GROUPS_M, int GROUPS_N>
GR_DEVICE int tile_row(hopper_tile<E, M, N, GROUPS_M, GROUPS_N>, int)
{
    const int lane = threadIdx.x % 32;
    return group_row<hopper_tile<E, M, N, GROUPS_M, GROUPS_N>>() + threadIdx.x % GROUP_THREADS / 32 * 16 + lane / 4 +
           lane % 2 * 8;
}
template <class E, int M, int N, int GROUPS_M, int GROUPS_N>
GR_DEVICE int tile_column(hopper_tile<E, M, N, GROUPS_M, GROUPS_N>, int i)
{
    return group_column<hopper_tile<E, M, N, GROUPS_M, GROUPS_N>>() + i * 8 + threadIdx.x % 4 / 2 * QUAD;
}

/* COUNT quads of neighbours in a row, of the sums that wgmma leaves in this thread. */
template <int COUNT> GR_DEVICE void quads_of_sums(quad *to, const float *sum)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = swap_pairs((quad){{sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]}});
}

/* A step's strips. */
template <class STRIP_A, class STRIP_B> struct hopper_step {
    STRIP_A a[PAIR];
    STRIP_B b[PAIR];
    static_assert(sizeof(STRIP_A) % 1024 == 0 && sizeof(STRIP_B) % 1024 == 0, "patterns begin at such places");
};

/* A strip as an operand of wgmma: its lines from line on, 16 deep from depth on. */
template <class STRIP> GR_DEVICE uint64_t strip_operand(const STRIP *strip, int line, int depth)
{
    const int piece = sizeof strip->at[0], box = STRIP::BOX * piece, count = STRIP::COUNT;
    const char *from = (const char *)strip->at;
    if (STRIP::SIDE_BY_SIDE)
        return gr_wgmma_operand(from + (line / count / STRIP::BOX * STRIP::ROWS + depth) * box, STRIP::ROWS * box,
                                EIGHT * box, GR_SWIZZLE_128);
    return gr_wgmma_operand(from + line * box + depth / count * piece, 0, EIGHT * box, GR_SWIZZLE_64);
}

template <int N, int MAJOR_A, int MAJOR_B> GR_DEVICE void multiply_strips(f16, float *sum, uint64_t a, uint64_t b)
{
    gr_wgmma_f16<N, MAJOR_A, MAJOR_B>(sum, a, b);
}
template <int N, int MAJOR_A, int MAJOR_B> GR_DEVICE void multiply_strips(bf16, float *sum, uint64_t a, uint64_t b)
{
    gr_wgmma_bf16<N, MAJOR_A, MAJOR_B>(sum, a, b);
}

/* Sends this group's products of a step on their way. */
template <class TILE, class STRIP_A, class STRIP_B>
GR_DEVICE void step_multiply(float *sum, const hopper_step<STRIP_A, STRIP_B> *step)
{
    gr_wgmma_fence<TILE::COLUMNS>(sum);
#pragma unroll
    for (int i = 0; i < PAIR; i++)
#pragma unroll
        for (int depth = 0; depth < STRIP_A::STEP; depth += WGMMA_DEPTH)
            multiply_strips<TILE::COLUMNS, STRIP_A::SIDE_BY_SIDE, STRIP_B::SIDE_BY_SIDE>(
                typename TILE::element(), sum, strip_operand(&step->a[i], group_row<TILE>(), depth),
                strip_operand(&step->b[i], group_column<TILE>(), depth));
    gr_wgmma_commit();
}

/* Sends a step's copies on their way to a stage, if there is such a step. */
template <class STRIP_A, class STRIP_B, class A, class B>
GR_DEVICE void step_fetch(typename STRIP_A::SHARE *of_a, typename STRIP_B::SHARE *of_b,
                          hopper_step<STRIP_A, STRIP_B> *to, const A *a, const B *b, bool more)
{
#pragma unroll
    for (int i = 0; i < PAIR && more; i++) {
        strip_fetch(of_a, &to->a[i], a);
        strip_fetch(of_b, &to->b[i], b);
    }
    gr_cp_async_commit();
}

/*
 * sum[QUADS] = this thread's part of the tile at row m and column n, over depths first to end; first is a whole number
 * of steps. All threads of the block must come. Both operands are copied. The steps are the launch's dynamic memory.
 */
template <class E, int M, int N, int GROUPS_M, int GROUPS_N, class A, class B>
GR_DEVICE void tile_product(hopper_tile<E, M, N, GROUPS_M, GROUPS_N>, quad *sum, const A *a, const B *b, int64_t m,
                            int64_t n, int64_t first, int64_t end)
{
#if !GR_HAS_WGMMA /* nobody launches this code: see gr_exec.wgmma */
    __trap();
    __builtin_unreachable();
#else
    typedef hopper_tile<E, M, N, GROUPS_M, GROUPS_N> TILE;
    typedef strip<A, M, TILE::THREADS> STRIP_A;
    typedef strip<B, N, TILE::THREADS> STRIP_B;
    typedef hopper_step<STRIP_A, STRIP_B> STEP;
    static_assert(COPIED<A> && COPIED<B>, "nothing passes through registers");
    GR_DYN_SHARED(STEP, stages);
    typename STRIP_A::SHARE of_a = {};
    typename STRIP_B::SHARE of_b = {};
    share_open(&of_a, a, m, first);
    share_open(&of_b, b, n, first);
    const int deep = PAIR * STRIP_A::STEP, steps = (int)((end - first + deep - 1) / deep);
    float part[QUAD * TILE::QUADS] = {};
    for (int stage = 0; stage < HOPPER_STAGES - 1; stage++)
        step_fetch(&of_a, &of_b, &stages[stage], a, b, stage < steps);
    int now = 0, to = HOPPER_STAGES - 1;
    for (int step = 0; step < steps; step++) {
        gr_cp_async_wait<HOPPER_STAGES - 2>();
        gr_fence_async();
        __syncthreads(); /* the step has come, and nobody multiplies what lay in the stage of the next copies */
        step_multiply<TILE>(part, &stages[now]);
        step_fetch(&of_a, &of_b, &stages[to], a, b, step + HOPPER_STAGES - 1 < steps);
        __syncwarp(); /* pieces at an edge part lanes; wgmma is for warps that are whole */
        gr_wgmma_wait<0, TILE::COLUMNS>(part);
        now = now + 1 < HOPPER_STAGES ? now + 1 : 0;
        to = to + 1 < HOPPER_STAGES ? to + 1 : 0;
    }
    quads_of_sums<TILE::QUADS>(sum, part);
#endif
}

#endif
