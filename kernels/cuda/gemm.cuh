/*
 * gemm.cuh - c[m,n] = sum_k a(m,k) b(k,n): tiles, splits of k, and what becomes of the sums.
 *
 *   gemm_blocks  block (split, row tile, column tile); those go fastest of which there are fewer, so that blocks side
 *                by side share a tile of the larger operand, which is read once; writes results or, where k is split,
 *                partials, which the last block of a tile to come adds in order where joins_itself says so
 *   gemm_join    else, if no later launch does that with blocks of its own (parts_add); thread (quad of results, share
 *                of the splits): adds each share in order, then the shares in order
 *
 * What becomes of a quad of sums is the matter of a destination, a struct with
 *   recall(&d, spot)               what it must read where these go to, of any type
 *   finish(&d, spot, old, sums)    writes them; old is what recall gave
 * A thread recalls for several of its quads before it finishes the first, and so waits for memory once.
 */
#ifndef GRADUS_GEMM_CUH
#define GRADUS_GEMM_CUH

#include "kernels/cuda/arrival.cuh"
#include "kernels/cuda/gemm_plan.cuh"
#include "kernels/cuda/result.cuh"

enum { RECALLED = 96 /* bytes at a time: registers that the product no longer needs */ };
enum { JOIN_THREADS = 256, JOIN_SPLITS = 2 /* of a share, at least */, MOST_SHARES = 32 };

/* Blocks that a multiprocessor shall hold: what is put together on its way takes registers. */
template <class TILE, class A, class B>
constexpr int BLOCKS_OF = A::HEAVY || B::HEAVY ? MOST_THREADS / 2 / TILE::THREADS : TILE::BLOCKS;
template <class TILE, class A, class B> constexpr int BLOCKS_OF<TILE, whole<A>, whole<B>> = TILE::BLOCKS_COPIED;

/* Whether any of a spot is a result. Columns, unlike rows, are fewer than 2^31. */
GR_DEVICE bool spot_exists(const gemm_plan *p, const spot *at)
{
    return at->row < p->m && (int)at->inside > 0;
}

/* Where a thread's i-th quad of the tile at row m and column n goes to. */
template <class TILE> GR_DEVICE spot tile_spot(const gemm_plan *p, int64_t m, int64_t n, int i, bool whole)
{
    const int64_t column = n + tile_column(TILE(), i);
    return {m + tile_row(TILE(), i), column, p->n - column, whole};
}

/* partial[m][pitch] of one split */
template <class TILE>
GR_DEVICE void tile_partial(float *partial, const quad *sum, int64_t m, int64_t n, const gemm_plan *p)
{
#pragma unroll
    for (int i = 0; i < TILE::QUADS; i++) {
        const spot at = tile_spot<TILE>(p, m, n, i, false);
        if (spot_exists(p, &at))
            quad_write(partial + at.row * p->pitch + at.column, sum[i]);
    }
}

template <class TILE, class TO>
GR_DEVICE void tile_finish(const TO *to, const quad *sum, int64_t m, int64_t n, const gemm_plan *p, bool whole)
{
    typedef decltype(recall(to, spot())) OLD;
    const int together = 2 * sizeof(OLD) > RECALLED ? 1 : 4 * sizeof(OLD) > RECALLED ? 2 : 4;
    static_assert(TILE::QUADS % together == 0, "so many at a time");
#pragma unroll
    for (int first = 0; first < TILE::QUADS; first += together) {
        OLD old[together];
#pragma unroll
        for (int i = 0; i < together; i++) {
            const spot at = tile_spot<TILE>(p, m, n, first + i, whole);
            if (spot_exists(p, &at))
                old[i] = recall(to, at);
        }
#pragma unroll
        for (int i = 0; i < together; i++) {
            const spot at = tile_spot<TILE>(p, m, n, first + i, whole);
            if (spot_exists(p, &at))
                finish(to, at, old[i], sum[first + i]);
        }
    }
}

/*
 * sum = the tile's of partial[splits][m][pitch], in the order of the splits, so many quads at a time. For one that is
 * no result the tile's own at spare is read: others' may still be written.
 */
template <class TILE>
GR_DEVICE void tile_join(quad *sum, const float *partial, int64_t m, int64_t n, unsigned spare, const gemm_plan *p)
{
    const int together = QUADS_TOGETHER<TILE>;
#pragma unroll
    for (int first = 0; first < TILE::QUADS; first += together) {
        unsigned from[together];
#pragma unroll
        for (int i = 0; i < together; i++) {
            const spot at = tile_spot<TILE>(p, m, n, first + i, false);
            from[i] = spot_exists(p, &at) ? (unsigned)(at.row * p->pitch + at.column) : spare;
            sum[first + i] = (quad){{0, 0, 0, 0}};
        }
#pragma unroll 1
        for (int split = 0; split < (int)p->splits; split++)
#pragma unroll
            for (int i = 0; i < together; i++) {
                const quad v = quad_inside(partial + split * p->m * p->pitch + from[i], QUAD, true);
#pragma unroll
                for (int j = 0; j < QUAD; j++)
                    sum[first + i].at[j] += v.at[j];
            }
    }
}

/*
 * Whether sum is that of the whole depth. Where k is split it is left in partial, unless this is the last block of its
 * tile to come and has to add those of all. arrivals: see gemm_blocks.
 */
template <class TILE>
GR_DEVICE bool tile_complete(quad *sum, float *partial, unsigned *arrivals, unsigned block, int64_t split, int64_t m,
                             int64_t n, const gemm_plan *p)
{
    if (p->splits == 1)
        return true;
    tile_partial<TILE>(partial + split * p->m * p->pitch, sum, m, n, p);
    /* The tile's number is found again: kept for so long, it would cost a register of the product. */
    const unsigned tile = block % (unsigned)(p->tiles_m * p->tiles_n);
    if (!arrivals || !last_to_come(arrivals + tile, (unsigned)p->splits))
        return false;
    tile_join<TILE>(sum, partial, m, n, (unsigned)(m * p->pitch + n), p);
    return true;
}

/*
 * What a product's block of that number does. partial[splits][m][pitch], where there are splits; arrivals[tiles], where
 * their last blocks add them, else NULL.
 */
template <class TILE, class A, class B, class TO>
GR_DEVICE void gemm_block(const A *a, const B *b, const TO *to, const gemm_plan *p, float *partial, unsigned *arrivals,
                          unsigned number)
{
    const int64_t block = number, tile = block % (p->tiles_m * p->tiles_n), split = block / (p->tiles_m * p->tiles_n);
    const bool down = p->tiles_m < p->tiles_n;
    const int64_t fewer = down ? p->tiles_m : p->tiles_n, slow = tile / fewer, fast = tile % fewer;
    const int64_t m = (down ? fast : slow) * TILE::M, n = (down ? slow : fast) * TILE::N;
    const int64_t first = split * p->split_depth, end = first + p->split_depth < p->k ? first + p->split_depth : p->k;
    const bool whole = COPIED<A> || COPIED<B> || p->pitch == p->n;
    quad sum[TILE::QUADS];
    tile_product(TILE(), sum, a, b, m, n, first, end);
    if (tile_complete<TILE>(sum, partial, arrivals, number, split, m, n, p))
        tile_finish<TILE>(to, sum, m, n, p, whole);
}

template <class TILE, class A, class B, class TO>
static __global__ void __launch_bounds__(TILE::THREADS, (BLOCKS_OF<TILE, A, B>))
    gemm_blocks(A a, B b, TO to, gemm_plan p, float *partial, unsigned *arrivals)
{
    gemm_block<TILE>(&a, &b, &to, &p, partial, arrivals, blockIdx.x);
}

/* What a launch has left to be added. */
template <class TO> struct parts {
    const float *partial; /* [splits][m][pitch]; NULL: nothing */
    TO to;
    gemm_plan plan;
    int shares; /* of the splits, a power of two: each is added in order, then the shares in order */
};

/* parts, in a launch of its own: with members apart nvcc takes fewer registers */
template <class TO>
static __global__ void __launch_bounds__(JOIN_THREADS) gemm_join(const float *partial, TO to, gemm_plan p, int shares)
{
    GR_SHARED(quad, share_sum, [JOIN_THREADS]);
    const unsigned quads = JOIN_THREADS / shares, mine = threadIdx.x % quads, share = threadIdx.x / quads;
    const unsigned number = blockIdx.x * quads + mine, across = (unsigned)(p.pitch / QUAD);
    const int64_t count = p.m * p.pitch, at = (int64_t)number * QUAD;
    quad sum = {{0, 0, 0, 0}};
    for (int64_t split = share; at < count && split < p.splits; split += shares) {
        const quad v = quad_inside(partial + split * count + at, QUAD, true);
        for (int j = 0; j < QUAD; j++)
            sum.at[j] += v.at[j];
    }
    share_sum[threadIdx.x] = sum;
    __syncthreads();
    for (int other = 1; share == 0 && other < shares; other++)
        for (int j = 0; j < QUAD; j++)
            sum.at[j] += share_sum[other * quads + mine].at[j];
    const unsigned row = number / across, column = number % across * QUAD;
    const spot of = {row, column, p.n - column, p.pitch == p.n};
    if (share == 0 && at < count)
        finish(&to, of, recall(&to, of), sum);
}

/*
 * The same sums by the blocks of a launch that has something else to do as well: this one of so many. A thread adds all
 * splits of a quad, and asks for several ahead.
 */
template <class TO> GR_DEVICE void parts_add(const parts<TO> *of, unsigned block, unsigned blocks)
{
    const gemm_plan *p = &of->plan;
    const unsigned across = (unsigned)(p->pitch / QUAD), count = (unsigned)p->m * across;
    for (unsigned number = block * blockDim.x + threadIdx.x; number < count; number += blocks * blockDim.x) {
        const float *from = of->partial + (int64_t)number * QUAD;
        quad sum = {{0, 0, 0, 0}}, part = sum;
        int split = 0, share = 0;
        for (int first = 0; first < (int)p->splits; first += ON_THEIR_WAY)
#pragma unroll
            for (int i = first; i < first + ON_THEIR_WAY; i++) {
                const int64_t there = i < (int)p->splits ? QUAD : 0; /* zeros behind the last change no sum */
                const quad v = quad_inside(from + split * (int64_t)count * QUAD, there, true);
                split += of->shares;
                const bool ends = split >= (int)p->splits;
                for (int j = 0; j < QUAD; j++) {
                    part.at[j] += v.at[j];
                    sum.at[j] = ends ? sum.at[j] + part.at[j] : sum.at[j];
                    part.at[j] = ends ? 0 : part.at[j];
                }
                split = ends ? ++share : split;
            }
        const unsigned row = number / across, column = number % across * QUAD;
        const spot to = {row, column, p->n - column, p->pitch == p->n};
        finish(&of->to, to, recall(&of->to, to), sum);
    }
}

/* Enough of them that a thread adds few splits, few enough that most threads are not needed for that alone. */
static inline int join_shares(int64_t splits)
{
    int shares = 1;
    while (shares < MOST_SHARES && splits >= 2 * shares * JOIN_SPLITS)
        shares *= 2;
    return shares;
}

/* Of a product whose parts lie in exec's scratch; itself: its own blocks add them. */
template <class TO> static parts<TO> parts_left(const gr_exec *exec, const TO &to, const gemm_plan &p, bool itself)
{
    const float *partial = p.splits > 1 && !itself ? (const float *)exec->scratch : NULL;
    return parts<TO>{partial, to, p, join_shares(p.splits)};
}

/* Adds them, if there are any, in a launch of its own. */
template <class TO> static void join_launch(const gr_exec *exec, const parts<TO> &of)
{
    const int64_t quads = of.plan.m * of.plan.pitch / QUAD;
    if (of.partial)
        GR_LAUNCH((gemm_join<TO>), (unsigned)divide_up(quads, JOIN_THREADS / of.shares), JOIN_THREADS, 0, exec->queue,
                  of.partial, of.to, of.plan, of.shares);
}

/* Bytes of dynamic shared memory that a tile of these operands takes: only those by wgmma want more than 48 KiB. */
template <class A, class B, class TILE> static inline size_t dynamic_shared(TILE)
{
    return 0;
}
template <class A, class B, class E, int M, int N, int GROUPS_M, int GROUPS_N>
static inline size_t dynamic_shared(hopper_tile<E, M, N, GROUPS_M, GROUPS_N>)
{
    const int threads = hopper_tile<E, M, N, GROUPS_M, GROUPS_N>::THREADS;
    return HOPPER_STAGES * sizeof(hopper_step<strip<A, M, threads>, strip<B, N, threads>>);
}

template <class TILE, class A, class B, class TO>
static parts<TO> gemm_launch(const gr_exec *exec, const A &a, const B &b, const TO &to, const gemm_plan &p)
{
    const int64_t blocks = p.tiles_m * p.tiles_n * p.splits;
    const bool itself = joins_itself<TILE>(exec, &p);
    const size_t bytes = dynamic_shared<A, B>(TILE());
    if (bytes > 0)
        GR_ALLOW_SHARED((gemm_blocks<TILE, A, B, TO>), bytes);
    GR_LAUNCH((gemm_blocks<TILE, A, B, TO>), (unsigned)blocks, TILE::THREADS, bytes, exec->queue, a, b, to, p,
              (float *)exec->scratch, itself ? exec->arrivals : NULL);
    return parts_left(exec, to, p, itself);
}

/* By the tiles of p's shape. */
template <class A, class B, class TO>
static parts<TO> gemm_shaped(const gr_exec *exec, const A &a, const B &b, const TO &to, const gemm_plan &p)
{
    typedef tiles<typename A::element> OF;
    if (p.shape == SMALL)
        return gemm_launch<typename OF::small>(exec, a, b, to, p);
    if constexpr (OF::WGMMA) {
        if (p.shape == WIDE)
            return gemm_launch<typename OF::wide>(exec, a, b, to, p);
        if (p.shape == TALL)
            return gemm_launch<typename OF::tall>(exec, a, b, to, p);
    }
    return gemm_launch<typename OF::square>(exec, a, b, to, p);
}

/* Operands that are not copied pass through registers, of which the square tile leaves too few: they have another. */
template <class A, class B, class TO>
static parts<TO> gemm_loose(const gr_exec *exec, const A &a, const B &b, const TO &to, gemm_plan p)
{
    typedef tiles<typename A::element> OF;
    if (p.shape == SMALL)
        return gemm_launch<typename OF::small>(exec, a, b, to, p);
    cut_tiles<typename OF::loose>(&p);
    return gemm_launch<typename OF::loose>(exec, a, b, to, p);
}

template <class O> static inline whole<O> whole_of(const O &o)
{
    return whole<O>{o};
}

/* All blocks of a product. exec->scratch has at least gemm_scratch<element>(exec, m, n, k) bytes. */
template <class A, class B, class TO>
static parts<TO> gemm_parts(const gr_exec *exec, const A &a, const B &b, const TO &to, int64_t m, int64_t n, int64_t k)
{
    const gemm_plan p = gemm_cut<typename A::element>(exec, m, n, k);
    if (is_whole(a) && is_whole(b) && p.pitch == n)
        return gemm_shaped(exec, whole_of(a), whole_of(b), to, p);
    return gemm_loose(exec, a, b, to, p);
}

/* The whole product. */
template <class A, class B, class TO>
static void gemm(const gr_exec *exec, const A &a, const B &b, const TO &to, int64_t m, int64_t n, int64_t k)
{
    join_launch(exec, gemm_parts(exec, a, b, to, m, n, k));
}

#endif
