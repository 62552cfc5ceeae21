/*
 * box_tile.cuh - a block's tile of a product of halves whose operands TMA brings (boxes.cuh): c[m,n] = sum_k a(m,k)
 * b(k,n), by wgmma, with float sums.
 *
 * Warps     eight, in two groups of 64 rows each. One thread also orders the boxes: what hopper_tile.cuh spends 200 to
 *           300 instructions of every warp on, in each step, takes 50 of one. (A warp of its own for that would take
 *           registers from all others: the ninth has as many as they.)
 * Steps     64 deep. Shared memory holds a few of each operand; barriers in memory tell when one is full and when it
 *           may be filled again, and there is no barrier of the block in the loop. A group's products of a step are
 *           under way when it sends those of the next on theirs: tensor cores do not wait between steps.
 * Patches   stay for all taps of 64 channels. A tap's rows of a begin anywhere in one: TMA and wgmma both swizzle by
 *           the address at which something lies, so that whole rows of 128 bytes may be left out in front.
 * Order     every result is one sum over the 16 products of a wgmma, then over the wgmmas in the order of k.
 * Shared    at most 100 KiB of steps: two blocks to a multiprocessor, one of which writes its results while the other
 *           multiplies.
 * Registers sums: N / 2.
 */
#ifndef GRADUS_BOX_TILE_CUH
#define GRADUS_BOX_TILE_CUH

#include "kernels/cuda/boxes.cuh"
#include "kernels/cuda/hopper_tile.cuh"

enum { BOX_SHARED = 100 << 10 /* bytes of steps */, BOX_BLOCKS = 2 /* to a multiprocessor */ };

/* 128 x N results, which lie in threads as those of its base. */
template <class E, int N_> struct box_tile : hopper_tile<E, BOX_LINES, N_, 2, 1> {
    typedef hopper_tile<E, BOX_LINES, N_, 2, 1> RESULTS;
    static const int WARPS = RESULTS::THREADS / 32, SHARED = BOX_SHARED;
};

/* An operand's step: lines of 64 depths; or boxes of 64 lines, depths of them; or a patch. */
template <class O, int LINES> struct box_step {
    static const int BOXES = O::MAJOR == GR_K_MAJOR ? 1 : LINES / BOX, SIZE = (O::PIXELS ? O::PIXELS : LINES) * BOX;
    typename O::element at[SIZE];
    static_assert(SIZE * sizeof(typename O::element) % 1024 == 0, "patterns begin at such places");
};

/* The barriers of an operand's steps in memory, of which so many are under way or multiplied. */
template <int COUNT> struct box_ring {
    uint64_t full[COUNT], empty[COUNT];
};

template <class TILE, class A, class B> struct box_rings {
    typedef box_step<A, TILE::M> STEP_A;
    typedef box_step<B, TILE::N> STEP_B;
    static const int OF_A = A::FOR_ALL_TAPS ? 2 : TILE::SHARED / (int)(sizeof(STEP_A) + sizeof(STEP_B));
    static const int OF_B = (TILE::SHARED - OF_A * (int)sizeof(STEP_A)) / (int)sizeof(STEP_B);
    STEP_A a[OF_A];
    STEP_B b[OF_B];
    box_ring<OF_A> ring_a;
    box_ring<OF_B> ring_b;
};

/* Which step of a ring comes next, and the parity of its filling. */
typedef struct {
    int at, parity;
} box_turn;

template <int COUNT> GR_DEVICE box_turn next_turn(const box_ring<COUNT> *, box_turn now)
{
    return now.at + 1 < COUNT ? (box_turn){now.at + 1, now.parity} : (box_turn){0, now.parity ^ 1};
}

/* Whether the next step of an operand, after that of these digits, is another one in memory. */
template <class O> GR_DEVICE bool step_ends(const O *, digits depth, radices depths)
{
    return !O::FOR_ALL_TAPS || (depth.middle == depths.middle - 1 && depth.low == depths.low - 1);
}

/* What is still to be ordered of an operand. */
template <class O> struct box_orders {
    typename O::place place;
    digits depth; /* of the next order */
    int left;
    box_turn now;
};

template <class O> GR_DEVICE box_orders<O> orders_of(const O *o, int line, int first, int end, radices depths)
{
    const digits depth = digits_of_int(first, depths);
    const bool patches = O::FOR_ALL_TAPS && end > first;
    const int left = patches ? digits_of_int(end - 1, depths).high - depth.high + 1 : end - first;
    return {operand_place(o, line), depth, left, {0, 1}};
}

/* Bytes of a step as they come. */
template <class O, int LINES> GR_DEVICE int step_bytes(const O *o, const box_step<O, LINES> *step)
{
    if constexpr (O::PIXELS > 0)
        return o->bytes;
    return sizeof *step;
}

/* Orders the next step, if there is one, when its place is empty. By one thread. */
template <class O, int LINES, int COUNT>
GR_DEVICE void order_step(box_step<O, LINES> *steps, box_ring<COUNT> *ring, box_orders<O> *mine, const O *o,
                          radices depths)
{
    typedef box_step<O, LINES> STEP;
    if (mine->left == 0)
        return;
    const int to = mine->now.at;
    gr_mbarrier_wait(&ring->empty[to], mine->now.parity);
    gr_mbarrier_expect(&ring->full[to], step_bytes(o, steps));
#pragma unroll
    for (int i = 0; i < STEP::BOXES; i++)
        operand_order(o, mine->place, i, mine->depth, steps[to].at + i * BOX * BOX, &ring->full[to]);
    mine->depth = O::FOR_ALL_TAPS ? (digits){mine->depth.high + 1, 0, 0} : digits_add(mine->depth, {0, 0, 1}, depths);
    mine->now = next_turn(ring, mine->now);
    mine->left--;
}

/* The first of an operand's steps as wgmma takes it, its lines from line on: the others lie behind it. */
template <class O, int LINES>
GR_DEVICE uint64_t first_operand(const O *o, const box_step<O, LINES> *steps, int line, const box_begin *begin)
{
    const int row = BOX * sizeof steps->at[0];
    if constexpr (O::FOR_ALL_TAPS)
        return gr_wgmma_operand(steps->at + (line / BOX * o->group + begin->patch) * BOX, 0, o->across * row,
                                GR_SWIZZLE_128);
    if (O::MAJOR == GR_K_MAJOR)
        return gr_wgmma_operand(steps->at + line * BOX, 0, EIGHT * row, GR_SWIZZLE_128);
    return gr_wgmma_operand(steps->at + line * BOX, BOX * row, EIGHT * row, GR_SWIZZLE_128);
}

/* Bytes from there to the tap of these digits in a step. */
template <class O> GR_DEVICE int tap_bytes(const O *o, digits depth)
{
    if constexpr (O::FOR_ALL_TAPS)
        return o->turn * (depth.middle * o->across + depth.low) * BOX * (int)sizeof(typename O::element);
    return 0;
}

/* Bytes to what is so many depths further on. */
template <class O> GR_DEVICE int depth_bytes(int depth)
{
    return (O::MAJOR == GR_K_MAJOR ? depth : depth * BOX) * (int)sizeof(typename O::element);
}

/* Sends this group's products of a step on their way. */
template <class TILE, class A, class B> GR_DEVICE void step_multiply(float *sum, uint64_t a, uint64_t b)
{
    gr_wgmma_again<TILE::N>(sum);
#pragma unroll
    for (int i = 0; i < BOX; i += WGMMA_DEPTH)
        multiply_strips<TILE::N, A::MAJOR, B::MAJOR>(typename TILE::element(), sum,
                                                     gr_wgmma_further(a, depth_bytes<A>(i)),
                                                     gr_wgmma_further(b, depth_bytes<B>(i)));
    gr_wgmma_commit();
}

/* All steps from first to end, as they come; the block's first thread orders others where they have been. */
template <class TILE, class A, class B>
GR_DEVICE void rings_multiply(float *sum, box_rings<TILE, A, B> *s, const A *a, const B *b, const box_begin *begin,
                              int m, int n, int first, int end, radices depths)
{
    box_orders<A> more_a = orders_of(a, m, first, end, depths);
    box_orders<B> more_b = orders_of(b, n, first, end, depths);
    more_a.place = place_from(a, more_a.place, begin);
    more_b.place = place_from(b, more_b.place, begin);
    for (int i = 0; i < s->OF_B && threadIdx.x == 0; i++) {
        if (i < s->OF_A)
            order_step(s->a, &s->ring_a, &more_a, a, depths);
        order_step(s->b, &s->ring_b, &more_b, b, depths);
    }
    __syncwarp();
    gr_wgmma_fence<TILE::N>(sum); /* from here to the end nobody else touches the sums */
    const uint64_t first_a = first_operand(a, s->a, group_row<typename TILE::RESULTS>(), begin);
    const uint64_t first_b = first_operand(b, s->b, 0, begin);
    box_turn now_a = {0, 0}, now_b = {0, 0};
    int before_a = 0, before_b = 0;
    bool ended = true; /* the step before was the last one of its a */
    digits depth = digits_of_int(first, depths);
    for (int step = first; step < end; step++) {
        if (ended)
            gr_mbarrier_wait(&s->ring_a.full[now_a.at], now_a.parity);
        gr_mbarrier_wait(&s->ring_b.full[now_b.at], now_b.parity);
        step_multiply<TILE, A, B>(sum, gr_wgmma_further(first_a, now_a.at * (int)sizeof s->a[0] + tap_bytes(a, depth)),
                                  gr_wgmma_further(first_b, now_b.at * (int)sizeof s->b[0]));
        gr_wgmma_wait<1, TILE::N>(sum); /* the step before has been multiplied */
        if (step > first && threadIdx.x % 32 == 0) {
            gr_mbarrier_arrive(&s->ring_b.empty[before_b]);
            if (ended)
                gr_mbarrier_arrive(&s->ring_a.empty[before_a]);
        }
        if (step > first && threadIdx.x == 0) {
            order_step(s->b, &s->ring_b, &more_b, b, depths);
            if (ended)
                order_step(s->a, &s->ring_a, &more_a, a, depths);
        }
        __syncwarp(); /* wgmma takes whole warps */
        before_a = now_a.at, before_b = now_b.at;
        ended = step_ends(a, depth, depths);
        now_b = next_turn(&s->ring_b, now_b);
        if (ended)
            now_a = next_turn(&s->ring_a, now_a);
        depth = digits_add(depth, {0, 0, 1}, depths);
    }
    gr_wgmma_wait<0, TILE::N>(sum);
}

template <int COUNT> GR_DEVICE void ring_open(box_ring<COUNT> *ring, int warps)
{
    for (int i = 0; i < COUNT && threadIdx.x == 0; i++) {
        gr_mbarrier_init(&ring->full[i], 1);
        gr_mbarrier_init(&ring->empty[i], warps);
    }
}

/* All threads of the block must come. */
template <class RINGS> GR_DEVICE void rings_open(RINGS *s, int warps)
{
    ring_open(&s->ring_a, warps);
    ring_open(&s->ring_b, warps);
    gr_fence_async();
    __syncthreads();
}

/*
 * sum[QUADS] = this thread's part of the tile at row m and column n, over steps first to end. All threads of the block
 * must come. The rings are the launch's dynamic memory.
 */
template <class TILE, class A, class B>
GR_DEVICE void box_product(TILE, quad *sum, const A *a, const B *b, const box_begin *begin, int m, int n, int first,
                           int end, radices depths)
{
#if !GR_HAS_WGMMA /* nobody launches this code: see gr_exec.wgmma */
    __trap();
    __builtin_unreachable();
#else
    typedef box_rings<TILE, A, B> RINGS;
    GR_DYN_SHARED(RINGS, s);
    rings_open(s, TILE::WARPS);
    float part[QUAD * TILE::QUADS] = {};
    rings_multiply<TILE>(part, s, a, b, begin, m, n, first, end, depths);
    quads_of_sums<TILE::QUADS>(sum, part);
#endif
}

#endif
