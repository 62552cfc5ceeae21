/*
 * patch_stream.cuh - convolutions of halves whose filters all stay in shared memory, where there are many positions: 64
 * channels, at most 64 filters and 9 taps, without strides. What gemm_boxes.cuh brings anew for each tile, 72 KiB of
 * filters beside 23 of pixels, comes once for a block, which makes tile after tile: patches of pixels (boxes.cuh)
 * stream by.
 *
 * Teams     two, of eight warps each, with tiles and patches of their own: one multiplies while the other writes. In a
 *           team warps make what they make in box_tile.cuh, and its first thread orders patches: one is multiplied, one
 *           is on its way.
 * Order     that of box_tile.cuh, product by product: the same bits.
 * Shared    72 KiB of filters and four patches of 25: one block to a multiprocessor.
 * Registers sums: 32.
 */
#ifndef GRADUS_PATCH_STREAM_CUH
#define GRADUS_PATCH_STREAM_CUH

#include "kernels/cuda/gemm_boxes.cuh"

enum {
    TEAMS = 2,
    TEAM_THREADS = 256,
    STREAM_TAPS = 9,    /* at most */
    STREAM_PATCHES = 2, /* of a team */
    STREAM_ROUNDS = 3   /* tiles for a team, at least: fewer are not worth its beginning */
};

/* The tiles of all teams, one below the other. */
template <class E> struct stream_tile : hopper_tile<E, TEAMS * BOX_LINES, BOX, TEAMS * BOX_LINES / GROUP_ROWS, 1> {
    typedef hopper_tile<E, TEAMS * BOX_LINES, BOX, TEAMS * BOX_LINES / GROUP_ROWS, 1> RESULTS;
};

template <class A, class B> struct stream {
    typedef box_step<A, BOX_LINES> PATCH;
    typedef box_step<B, BOX> FILTERS; /* one tap of them */
    FILTERS b[STREAM_TAPS];
    PATCH a[TEAMS][STREAM_PATCHES];
    uint64_t filters; /* all have come */
    box_ring<STREAM_PATCHES> ring[TEAMS];
};

/* Whether a product by patches, cut so, goes this way. */
static inline bool streams(const gr_exec *exec, const gemm_plan *p, radices taps)
{
    const int count = taps.middle * taps.low;
    return count <= STREAM_TAPS && p->k == count * BOX && p->tiles_n == 1 && p->shape == TALL && p->splits == 1 &&
           p->tiles_m >= (int64_t)STREAM_ROUNDS * TEAMS * exec->multiprocessors;
}

/* All threads of the block must come. */
template <class STREAM> GR_DEVICE void stream_open(STREAM *s)
{
    if (threadIdx.x == 0)
        gr_mbarrier_init(&s->filters, 1);
    for (int team = 0; team < TEAMS; team++)
        ring_open(&s->ring[team], TEAM_THREADS / 32);
    gr_fence_async();
    __syncthreads();
}

/* Orders all filters, tap after tap. */
template <class STREAM, class B>
GR_DEVICE void order_filters(STREAM *s, const B *b, const box_begin *begin, radices taps)
{
    const int count = taps.middle * taps.low;
    const auto place = place_from(b, operand_place(b, 0), begin);
    gr_mbarrier_expect(&s->filters, count * (int)sizeof s->b[0]);
    digits tap = {0, 0, 0};
    for (int i = 0; i < count; i++, tap = digits_add(tap, {0, 0, 1}, taps))
        operand_order(b, place, 0, tap, s->b[i].at, &s->filters);
}

/* The patches that a team has still to order: of tiles next, next + by, ... below end. */
typedef struct {
    unsigned next, by, end;
    box_turn now;
} patch_orders;

/* Orders the next one, if there is one, when its place is empty. By one thread. */
template <class A, class PATCH, int COUNT>
GR_DEVICE void order_patch(PATCH *steps, box_ring<COUNT> *ring, patch_orders *mine, const A *a, const box_begin *begin)
{
    if (mine->next >= mine->end)
        return;
    const int to = mine->now.at;
    gr_mbarrier_wait(&ring->empty[to], mine->now.parity);
    gr_mbarrier_expect(&ring->full[to], step_bytes(a, steps));
    operand_order(a, place_from(a, operand_place(a, (int)(mine->next * BOX_LINES)), begin), 0, {0, 0, 0}, steps[to].at,
                  &ring->full[to]);
    mine->next += mine->by;
    mine->now = next_turn(ring, mine->now);
}

/* A tile's sums: all taps of a patch at a, with the filters at b. */
template <class TILE, class A, class B>
GR_DEVICE void taps_of_patch(float *sum, const A *a, uint64_t at_a, uint64_t at_b, radices taps)
{
    digits tap = {0, 0, 0};
#pragma unroll
    for (int i = 0; i < QUAD * TILE::QUADS; i++)
        sum[i] = 0;
    gr_wgmma_fence<TILE::N>(sum);
    for (int i = 0; i < taps.middle * taps.low; i++, tap = digits_add(tap, {0, 0, 1}, taps))
        step_multiply<TILE, A, B>(sum, gr_wgmma_further(at_a, tap_bytes(a, tap)),
                                  gr_wgmma_further(at_b, i * BOX * BOX * (int)sizeof(typename TILE::element)));
    gr_wgmma_wait<0, TILE::N>(sum);
}

/* This team's tiles, as their patches come; the filters are in memory or on their way. */
template <class TILE, class A, class B, class TO>
GR_DEVICE void stream_multiply(stream<A, B> *s, const A *a, const B *b, const TO *to, const box_plan *p)
{
    const int team = threadIdx.x / TEAM_THREADS, line = group_row<typename TILE::RESULTS>() % BOX_LINES;
    const int inside = tile_row(typename TILE::RESULTS(), 0) % BOX_LINES;
    const bool orders = threadIdx.x % TEAM_THREADS == 0;
    auto *patches = s->a[team];
    auto *ring = &s->ring[team];
    const unsigned first = blockIdx.x * TEAMS + team;
    patch_orders more = {first, gridDim.x * TEAMS, (unsigned)p->plan.tiles_m, {0, 1}};
    for (int i = 0; i < STREAM_PATCHES && orders; i++)
        order_patch(patches, ring, &more, a, &p->begin);
    const uint64_t first_a = first_operand(a, patches, line, &p->begin), first_b = first_operand(b, s->b, 0, &p->begin);
    box_turn now = {0, 0};
    gr_mbarrier_wait(&s->filters, 0);
    for (unsigned tile = first; tile < more.end; tile += more.by, now = next_turn(ring, now)) {
        float part[QUAD * TILE::QUADS];
        quad sum[TILE::QUADS];
        gr_mbarrier_wait(&ring->full[now.at], now.parity);
        __syncwarp(); /* wgmma takes whole warps */
        taps_of_patch<TILE, A, B>(part, a, gr_wgmma_further(first_a, now.at * (int)sizeof patches[0]), first_b,
                                  p->depths);
        if (threadIdx.x % 32 == 0)
            gr_mbarrier_arrive(&ring->empty[now.at]);
        if (orders)
            order_patch(patches, ring, &more, a, &p->begin);
        __syncwarp();
        quads_of_sums<TILE::QUADS>(sum, part);
        const int64_t row = box_position(&a->positions, (int)tile, inside);
        if (row < p->plan.m)
            row_finish<TILE>(to, sum, row, 0, &p->plan);
    }
}

template <class TILE, class A, class B, class TO>
static __global__ void __launch_bounds__(TILE::THREADS, 1)
    patch_stream(const __grid_constant__ A a, const __grid_constant__ B b, const __grid_constant__ TO to,
                 const __grid_constant__ box_plan p)
{
#if !GR_HAS_WGMMA /* nobody launches this code: see gr_exec.wgmma */
    __trap();
    __builtin_unreachable();
#else
    typedef stream<A, B> STREAM;
    GR_DYN_SHARED(STREAM, s);
    stream_open(s);
    if (threadIdx.x == 0)
        order_filters(s, &b, &p.begin, p.depths);
    __syncwarp();
    stream_multiply<TILE>(s, &a, &b, &to, &p);
#endif
}

template <class A, class B, class TO>
static void stream_launch(const gr_exec *exec, const A &a, const B &b, const TO &to, const box_plan &p)
{
    typedef stream_tile<typename A::element> TILE;
    const size_t bytes = sizeof(stream<A, B>);
    GR_ALLOW_SHARED((patch_stream<TILE, A, B, TO>), bytes);
    GR_LAUNCH((patch_stream<TILE, A, B, TO>), (unsigned)exec->multiprocessors, TILE::THREADS, bytes, exec->queue, a, b,
              to, p);
}

#endif
