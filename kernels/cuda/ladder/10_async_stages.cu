/*
 * 10_async_stages.cu - copies go to shared memory by themselves, two steps ahead.
 *
 * Changed   cp.async takes 16 bytes from global to shared memory without a register and without anybody waiting. Shared
 *           memory holds three steps: while one is multiplied, two are on their way.
 * Faster    because a copy has two steps' time to come, and no thread holds it meanwhile. Copies are counted in groups,
 *           one a step: a thread waits until all but its youngest has come. Then the barrier, which does two things:
 *           the others' copies have come as well, and nobody reads any more what is overwritten next.
 * Price     half as much shared memory again: 48 KiB, the most that a kernel has without asking. Before sm_80 there is
 *           no cp.async, and these are plain copies.
 * Top       of what sm_80 has; the operations' products are this (tensor_tile.cuh), for any shape. Slow still, because
 *           all threads work at copying: an address for every 16 bytes; and all of them wait for all.
 * Launch    block of 256 threads for a tile of 128 x 128, the column tile fastest.
 * Order     the 16 products of an instruction in the hardware's order, the instructions in the order of depth.
 * Counted   barriers 4; shared requests 512, conflicts 0.00 each; global requests 384, sectors 4096; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 0.49 ms, 280 TFLOP/s.
 */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 128,
    STEP = 32,
    STAGES = 3,
    PIECE = 8 /* halves of 16 bytes */,
    ACROSS_A = STEP / PIECE /* pieces of a row of a's tile */,
    ACROSS_B = TILE / PIECE,
    THREADS = 256,
    ROWS = 4 /* fragments of a warp, 16 rows each */,
    COLUMNS = 4 /* 8 columns each */
};

/* Where piece p of a row lies, as in 9. */
GR_DEVICE int place_a(int row, int p)
{
    return row * ACROSS_A + (p ^ row / 2 % 4);
}
GR_DEVICE int place_b(int row, int p)
{
    return row * ACROSS_B + (p ^ row % 8);
}

/* Sends this thread's pieces of a[TILE,k] and b[k,n] on their way. */
GR_DEVICE void send(uint4 *tile_a, uint4 *tile_b, const uint16_t *a, const uint16_t *b, int64_t n, int64_t k)
{
    for (int at = threadIdx.x; at < TILE * ACROSS_A; at += THREADS) {
        const uint16_t *left = a + at / ACROSS_A * k + at % ACROSS_A * PIECE;
        const uint16_t *right = b + at / ACROSS_B * n + at % ACROSS_B * PIECE;
        gr_cp_async16(&tile_a[place_a(at / ACROSS_A, at % ACROSS_A)], left, 16);
        gr_cp_async16(&tile_b[place_b(at / ACROSS_B, at % ACROSS_B)], right, 16);
    }
}

/* This warp's first row and column, in the tile: warps are 2 x 4. */
GR_DEVICE int warp_row(void)
{
    return threadIdx.x / 32 / 4 * (ROWS * 16);
}
GR_DEVICE int warp_column(void)
{
    return threadIdx.x / 32 % 4 * (COLUMNS * 8);
}

GR_DEVICE void multiply(float sum[ROWS][COLUMNS][4], const uint4 *tile_a, const uint4 *tile_b)
{
    const int line = threadIdx.x % 16, beside = threadIdx.x % 32 / 16;
    for (int depth = 0; depth < STEP; depth += 16) {
        uint32_t left[ROWS][4], right[COLUMNS / 2][4]; /* a load of b is two fragments */
        for (int r = 0; r < ROWS; r++)
            gr_ldmatrix_x4(left[r], &tile_a[place_a(warp_row() + r * 16 + line, depth / PIECE + beside)]);
        for (int s = 0; s < COLUMNS / 2; s++)
            gr_ldmatrix_x4_trans(right[s], &tile_b[place_b(depth + line, warp_column() / PIECE + s * 2 + beside)]);
        for (int r = 0; r < ROWS; r++)
            for (int s = 0; s < COLUMNS; s++)
                gr_mma_f16(sum[r][s], left[r], right[s / 2] + s % 2 * 2);
    }
}

/* c[m,n] in floats, a[m,k] and b[k,n] in halves; m and n in whole tiles, k in whole steps */
static __global__ void async_stages(float *c, const uint16_t *a, const uint16_t *b, int64_t n, int64_t k)
{
    GR_SHARED(uint4, tile_a, [STAGES][TILE * ACROSS_A]);
    GR_SHARED(uint4, tile_b, [STAGES][STEP * ACROSS_B]);
    const int64_t first_i = blockIdx.x / (n / TILE) * TILE, first_j = blockIdx.x % (n / TILE) * TILE;
    a += first_i * k, b += first_j;
    float sum[ROWS][COLUMNS][4] = {};
    const int64_t ahead = (STAGES - 1) * STEP;
    for (int64_t step = 0; step < ahead; step += STEP) {
        if (step < k)
            send(tile_a[step / STEP], tile_b[step / STEP], a + step, b + step * n, n, k);
        gr_cp_async_commit();
    }
    for (int64_t step = 0; step < k; step += STEP) {
        gr_cp_async_wait<STAGES - 2>(); /* of STAGES - 1 groups the oldest, this step's, has come */
        __syncthreads();
        const int64_t now = step / STEP % STAGES, to = (step + ahead) / STEP % STAGES;
        if (step + ahead < k)
            send(tile_a[to], tile_b[to], a + step + ahead, b + (step + ahead) * n, n, k);
        gr_cp_async_commit(); /* an empty group, too: so that the wait always counts the same */
        multiply(sum, tile_a[now], tile_b[now]);
    }
    c += (first_i + warp_row() + threadIdx.x % 32 / 4) * n + first_j + warp_column() + threadIdx.x % 4 * 2;
    for (int r = 0; r < 2 * ROWS; r++) /* d[0], d[1]: row g; d[2], d[3]: row g + 8 */
        for (int s = 0; s < COLUMNS; s++)
            *(float2 *)(c + r * 8 * n + s * 8) = make_float2(sum[r / 2][s][r % 2 * 2], sum[r / 2][s][r % 2 * 2 + 1]);
}

extern "C" void GR_CUDA(ladder_async_stages)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                             void *queue)
{
    GR_LAUNCH(async_stages, (unsigned)(m / TILE * (n / TILE)), THREADS, 0, queue, c, (const uint16_t *)a,
              (const uint16_t *)b, n, k);
}
