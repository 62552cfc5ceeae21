/*
 * 12_wgmma.cu - four warps multiply straight from shared memory.
 *
 * Changed   wgmma takes its factors where TMA has put them: a product of 64 x 128, 16 deep, is one instruction of four
 *           warps, whose operands are told by descriptors. No ldmatrix, no fragments of a and b.
 * Faster    because nothing is read into registers first: the 384 reads of 11 are gone, and with them the
 *           registers and the instructions for them. Only with wgmma does Hopper come near what its tensor cores can.
 * Operands  a descriptor has the begin, the bytes from 8 rows to the next 8 (1024) and the swizzle. a is K-major: its
 *           rows are neighbours in depth; 16 deeper is 32 bytes further in the same rows. b is MN-major: its rows are
 *           neighbours in columns, 64 of them to a box; 16 deeper is 16 rows further; leading: the other box.
 * Waits     wgmma is asynchronous. A fence before the first one: the sums are set. A commit closes a group; until the
 *           wait is over, its sums and its operands are not to be touched.
 * Slow      still: the wait leaves the tensor cores idle between two steps; with two groups of sums, one would always
 *           be under way. And copies could be shared by neighbouring blocks (clusters, multicast).
 * Price     code for sm_90a alone: later GPUs have other instructions.
 * Launch    block of two groups of four warps, each for 64 rows of a tile of 128 x 128, and a warp that orders.
 * Counted   barriers 1; shared requests 42, conflicts 0.00 each; global requests 262, sectors 4096; lanes 28.7
 * Measured  H200, 4,096 x 4,096 x 4,096: 0.23 ms, 609 TFLOP/s.
 */
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 128,
    STEP = 64 /* 128 bytes of a row of a */,
    BOX = 64 /* columns of b that a copy brings */,
    STAGES = 3,
    GROUP = 128 /* threads that multiply together */,
    HEIGHT = 64 /* rows of their product */,
    WARPS = TILE / HEIGHT * GROUP / 32 /* that multiply */,
    THREADS = 32 * (WARPS + 1),
    EIGHT = 8 * 128 /* bytes of eight rows: a swizzled pattern */
};

typedef struct {
    uint16_t a[STAGES][TILE][STEP], b[STAGES][TILE / BOX][STEP][BOX];
    uint64_t full[STAGES], empty[STAGES];
} stages;

/* Orders the steps of the tile at (i, j), as stages become empty; as in 11. */
GR_DEVICE void order(stages *s, const gr_tensor_map *a, const gr_tensor_map *b, int i, int j, int steps)
{
    for (int step = 0; step < steps; step++) {
        const int now = step % STAGES, round = step / STAGES;
        gr_mbarrier_wait(&s->empty[now], (round + 1) % 2);
        gr_mbarrier_expect(&s->full[now], sizeof s->a[now] + sizeof s->b[now]);
        gr_tma_load(s->a[now], a, i, step * STEP, &s->full[now]);
        for (int box = 0; box < TILE / BOX; box++)
            gr_tma_load(s->b[now][box], b, step * STEP, j + box * BOX, &s->full[now]);
    }
}

/* This group's rows of the tile, from row on. */
GR_DEVICE void multiply(float sum[64], const stages *s, int now, int row)
{
    gr_wgmma_fence<TILE>(sum);
    for (int depth = 0; depth < STEP; depth += 16) {
        const uint64_t left = gr_wgmma_operand(&s->a[now][row][depth], 0, EIGHT, GR_SWIZZLE_128);
        const uint64_t right = gr_wgmma_operand(&s->b[now][0][depth], sizeof s->b[now][0], EIGHT, GR_SWIZZLE_128);
        gr_wgmma_f16<TILE, GR_K_MAJOR, GR_MN_MAJOR>(sum, left, right);
    }
    gr_wgmma_commit();
    gr_wgmma_wait<0, TILE>(sum);
}

/* c[m,n] in floats, a[m,k] and b[k,n] in halves; m and n in whole tiles, k in steps */
static __global__ void wgmma(float *c, const __grid_constant__ gr_tensor_map a, const __grid_constant__ gr_tensor_map b,
                             int64_t n, int steps)
{
    GR_DYN_SHARED(stages, s);
    const int first_i = (int)(blockIdx.x / (n / TILE)) * TILE, first_j = (int)(blockIdx.x % (n / TILE)) * TILE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 4 * HEIGHT;
    for (int i = 0; i < STAGES && threadIdx.x == 0; i++) {
        gr_mbarrier_init(&s->full[i], 1);
        gr_mbarrier_init(&s->empty[i], WARPS);
    }
    gr_fence_async();
    __syncthreads();
    if (warp == WARPS && lane == 0)
        order(s, &a, &b, first_i, first_j, steps);
    if (warp == WARPS)
        return;
    float sum[64] = {};
    for (int step = 0; step < steps; step++) {
        const int now = step % STAGES;
        gr_mbarrier_wait(&s->full[now], step / STAGES % 2);
        multiply(sum, s, now, row);
        if (lane == 0)
            gr_mbarrier_arrive(&s->empty[now]);
        __syncwarp(); /* wgmma takes whole warps */
    }
    c += (first_i + row + warp % 4 * 16 + lane / 4) * n + first_j + lane % 4 * 2;
    for (int i = 0; i < 64; i += 2) /* two neighbours of 8 columns, in row g or g + 8 */
        *(float2 *)(c + i / 2 % 2 * 8 * n + i / 4 * 8) = make_float2(sum[i], sum[i + 1]);
}

extern "C" void GR_CUDA(ladder_wgmma)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                      void *queue)
{
    GR_ALLOW_SHARED(wgmma, sizeof(stages));
    GR_LAUNCH(wgmma, (unsigned)(m / TILE * (n / TILE)), THREADS, sizeof(stages), queue, c,
              gr_tensor_map_of(a, m, k, TILE, STEP), gr_tensor_map_of(b, k, n, STEP, BOX), n, (int)(k / STEP));
}
