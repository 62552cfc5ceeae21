/*
 * tap_tile.cuh - dW of a convolution of halves by windows of 3 x 3 without strides, from patches (boxes.cuh):
 *
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n,h,w,c]      h = p + r - pad_top      w = q + s - pad_left
 *
 * A block makes all nine taps of 64 filters and 64 channels, in three groups of four warps, one for each row of taps. A
 * step is 8 x 8 positions: their gradients, and the 10 x 10 pixels that they see, of which each tap's 8 x 8 begin
 * somewhere else. So 20 KiB come for what takes 144 if every tap brings its own.
 *
 * Steps     as in box_tile.cuh, a block to a multiprocessor, with four of them in shared memory.
 * Order     every result is one sum over the 16 products of a wgmma, then over the wgmmas in the order of k.
 * Registers sums: 96.
 */
#ifndef GRADUS_TAP_TILE_CUH
#define GRADUS_TAP_TILE_CUH

#include "kernels/cuda/box_tile.cuh"

/* The results of one tap, of the group that has its row. */
struct tap_results {
    static const int M = BOX, N = BOX, QUADS = N / 8;
};

GR_DEVICE int tile_row(tap_results, int)
{
    const int lane = threadIdx.x % 32;
    return threadIdx.x % GROUP_THREADS / 32 * 16 + lane / 4 + lane % 2 * 8;
}
GR_DEVICE int tile_column(tap_results, int i)
{
    return i * 8 + threadIdx.x % 4 / 2 * QUAD;
}

template <class E> struct tap_tile {
    typedef E element;
    static const int TAPS = tap_patches<E>::TAPS, M = BOX, N = BOX; /* of an operand's step */
    static const int THREADS = TAPS * GROUP_THREADS, WARPS = THREADS / 32, SHARED = 88 << 10;
    static const int SUMS = N / 2; /* of a thread and tap */
    typedef box_rings<tap_tile, gradient_boxes<E>, tap_patches<E>> RINGS;
    /* of all results of a block, as plans count them */
    struct plan {
        static const int M = BOX, N = TAPS * TAPS * BOX, THREADS = tap_tile::THREADS, QUADS = TAPS * tap_results::QUADS;
    };
};

/* Sends this group's products of a step on their way: those of its row of taps. */
template <class TILE, class E> GR_DEVICE void taps_multiply(float *sum, uint64_t dz, uint64_t x)
{
    const int row = BOX * sizeof(E), across = tap_patches<E>::ACROSS;
#pragma unroll
    for (int tap = 0; tap < TILE::TAPS; tap++) /* before all products: nvcc ends a group of them where there is one */
        gr_wgmma_again<BOX>(sum + tap * TILE::SUMS);
#pragma unroll
    for (int tap = 0; tap < TILE::TAPS; tap++)
#pragma unroll
        for (int depth = 0; depth < BOX; depth += WGMMA_DEPTH)
            multiply_strips<BOX, GR_MN_MAJOR, GR_MN_MAJOR>(
                E(), sum + tap * TILE::SUMS, gr_wgmma_further(dz, depth * row),
                gr_wgmma_further(x, (depth / PATCH_SIDE * across + tap) * row));
    gr_wgmma_commit();
}

/* All steps from first to end of filters m and channels c, as they come; as rings_multiply. */
template <class TILE, class E>
GR_DEVICE void taps_multiply_all(float *sum, typename TILE::RINGS *s, const gradient_boxes<E> *dz,
                                 const tap_patches<E> *x, int m, int c, int first, int end, radices depths)
{
    box_orders<gradient_boxes<E>> more_dz = orders_of(dz, m, first, end, depths);
    box_orders<tap_patches<E>> more_x = orders_of(x, c, first, end, depths);
    for (int i = 0; i < s->OF_A && threadIdx.x == 0; i++) {
        order_step(s->a, &s->ring_a, &more_dz, dz, depths);
        order_step(s->b, &s->ring_b, &more_x, x, depths);
    }
    __syncwarp();
#pragma unroll
    for (int tap = 0; tap < TILE::TAPS; tap++)
        gr_wgmma_fence<BOX>(sum + tap * TILE::SUMS); /* from here to the end nobody else touches the sums */
    const int row = BOX * sizeof(E), across = tap_patches<E>::ACROSS, down = threadIdx.x / GROUP_THREADS;
    const uint64_t first_dz = gr_wgmma_operand(s->a[0].at, 0, EIGHT * row, GR_SWIZZLE_128);
    const uint64_t first_x = gr_wgmma_operand(s->b[0].at + down * across * BOX, 0, across * row, GR_SWIZZLE_128);
    box_turn now = {0, 0};
    for (int step = first, before = 0; step < end; step++, before = now.at, now = next_turn(&s->ring_a, now)) {
        gr_mbarrier_wait(&s->ring_a.full[now.at], now.parity);
        gr_mbarrier_wait(&s->ring_b.full[now.at], now.parity);
        taps_multiply<TILE, E>(sum, gr_wgmma_further(first_dz, now.at * (int)sizeof s->a[0]),
                               gr_wgmma_further(first_x, now.at * (int)sizeof s->b[0]));
        gr_wgmma_wait<1, TILE::TAPS * BOX>(sum); /* the step before has been multiplied */
        if (step > first && threadIdx.x % 32 == 0) {
            gr_mbarrier_arrive(&s->ring_a.empty[before]);
            gr_mbarrier_arrive(&s->ring_b.empty[before]);
        }
        if (step > first && threadIdx.x == 0) {
            order_step(s->a, &s->ring_a, &more_dz, dz, depths);
            order_step(s->b, &s->ring_b, &more_x, x, depths);
        }
        __syncwarp(); /* wgmma takes whole warps */
    }
    gr_wgmma_wait<0, TILE::TAPS * BOX>(sum);
}

/*
 * sum[TAPS][QUADS] = this thread's part of its row of taps, of filters m and channels c, over steps first to end. All
 * threads of the block must come. The rings are the launch's dynamic memory.
 */
template <class TILE, class E>
GR_DEVICE void taps_product(TILE, quad *sum, const gradient_boxes<E> *dz, const tap_patches<E> *x, int m, int c,
                            int first, int end, radices depths)
{
#if !GR_HAS_WGMMA /* nobody launches this code: see gr_exec.wgmma */
    __trap();
    __builtin_unreachable();
#else
    typedef typename TILE::RINGS RINGS;
    GR_DYN_SHARED(RINGS, s);
    rings_open(s, TILE::WARPS);
    float part[TILE::TAPS * TILE::SUMS] = {};
    taps_multiply_all<TILE>(part, s, dz, x, m, c, first, end, depths);
    quads_of_sums<TILE::TAPS * tap_results::QUADS>(sum, part);
#endif
}

#endif
