/*
 * 8_tensor_cores.cu - a warp multiplies small matrices as a whole.
 *
 * Changed   a and b are halves, and a warp's instruction is d[16x8] += a[16x16] b[16x8], 4096 operations, sums in float
 *           (mma.sync, gr_mma_f16 of gpu.h). The factors lie in fragments, spread over the lanes in the hardware's own
 *           order: docs/ladders.md draws it. The tile is 128 x 128 as before, 64 x 32 of it a warp's: 4 x 4 fragments
 *           of results.
 * Faster    because the tensor cores of an A100 make 16 times the multiply-adds of its other units, from half of the
 *           bytes.
 * Slow      still, because the fragments are read as the order of lanes has it: 4 bytes of a, and 2 of b at a time,
 *           since its neighbours lie along columns and the instruction wants neighbours in depth. Eight rows of 64
 *           bytes meet in the same banks: four turns for one read of a.
 * Launch    block of 256 threads for a tile of 128 x 128, the column tile fastest.
 * Shared    32 KiB, two buffers as in 6.
 * Order     the 16 products of an instruction in the hardware's order, the instructions in the order of depth.
 * Counted   barriers 5; shared requests 2176, conflicts 2.82 each; global requests 384, sectors 4096; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 1.39 ms, 99 TFLOP/s.
 */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 128,
    STEP = 32,
    PIECE = 8 /* halves of 16 bytes */,
    THREADS = 256,
    EACH = TILE * STEP / PIECE / THREADS /* pieces that a thread brings of a tile */,
    ROWS = 4 /* fragments of a warp, 16 rows each */,
    COLUMNS = 4 /* 8 columns each */
};

/* A thread's pieces of a step, on their way. */
typedef struct {
    uint4 left[EACH], right[EACH];
} share;

/* From a[TILE,k] and b[k,n]. */
GR_DEVICE share fetch(const uint16_t *a, const uint16_t *b, int64_t n, int64_t k)
{
    share s;
    for (int e = 0, at = threadIdx.x; e < EACH; e++, at += THREADS) {
        s.left[e] = *(const uint4 *)(a + at / (STEP / PIECE) * k + at % (STEP / PIECE) * PIECE);
        s.right[e] = *(const uint4 *)(b + at / (TILE / PIECE) * n + at % (TILE / PIECE) * PIECE);
    }
    return s;
}

GR_DEVICE void put(uint16_t (*tile_a)[STEP], uint16_t (*tile_b)[TILE], share s)
{
    for (int e = 0, at = threadIdx.x; e < EACH; e++, at += THREADS) {
        *(uint4 *)&tile_a[at / (STEP / PIECE)][at % (STEP / PIECE) * PIECE] = s.left[e];
        *(uint4 *)&tile_b[at / (TILE / PIECE)][at % (TILE / PIECE) * PIECE] = s.right[e];
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

GR_DEVICE void multiply(float sum[ROWS][COLUMNS][4], const uint16_t (*tile_a)[STEP], const uint16_t (*tile_b)[TILE])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int depth = 0; depth < STEP; depth += 16) {
        uint32_t left[ROWS][4], right[COLUMNS][2];
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < 4; i++) /* rows g and g + 8, depths 2t, 2t + 1 and 8 further */
                left[r][i] = *(const uint32_t *)&tile_a[warp_row() + r * 16 + g + i % 2 * 8][depth + 2 * t + i / 2 * 8];
        for (int s = 0; s < COLUMNS; s++)
            for (int i = 0; i < 2; i++) { /* column g, depths 2t, 2t + 1 and 8 further */
                const int l = depth + 2 * t + i * 8, j = warp_column() + s * 8 + g;
                right[s][i] = tile_b[l][j] | (uint32_t)tile_b[l + 1][j] << 16;
            }
        for (int r = 0; r < ROWS; r++)
            for (int s = 0; s < COLUMNS; s++)
                gr_mma_f16(sum[r][s], left[r], right[s]);
    }
}

/* c[m,n] in floats, a[m,k] and b[k,n] in halves; m and n in whole tiles, k in whole steps */
static __global__ void tensor_cores(float *c, const uint16_t *a, const uint16_t *b, int64_t n, int64_t k)
{
    GR_SHARED(uint16_t, tile_a, [2][TILE][STEP]);
    GR_SHARED(uint16_t, tile_b, [2][STEP][TILE]);
    const int64_t first_i = blockIdx.x / (n / TILE) * TILE, first_j = blockIdx.x % (n / TILE) * TILE;
    a += first_i * k, b += first_j;
    float sum[ROWS][COLUMNS][4] = {};
    put(tile_a[0], tile_b[0], fetch(a, b, n, k));
    __syncthreads();
    for (int64_t step = 0, now = 0; step < k; step += STEP, now ^= 1) {
        const int64_t next = step + STEP;
        share s = {};
        if (next < k)
            s = fetch(a + next, b + next * n, n, k);
        multiply(sum, tile_a[now], tile_b[now]);
        if (next < k)
            put(tile_a[now ^ 1], tile_b[now ^ 1], s);
        __syncthreads();
    }
    c += (first_i + warp_row() + threadIdx.x % 32 / 4) * n + first_j + warp_column() + threadIdx.x % 4 * 2;
    for (int r = 0; r < 2 * ROWS; r++) /* d[0], d[1]: row g; d[2], d[3]: row g + 8 */
        for (int s = 0; s < COLUMNS; s++)
            *(float2 *)(c + r * 8 * n + s * 8) = make_float2(sum[r / 2][s][r % 2 * 2], sum[r / 2][s][r % 2 * 2 + 1]);
}

extern "C" void GR_CUDA(ladder_tensor_cores)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                             void *queue)
{
    GR_LAUNCH(tensor_cores, (unsigned)(m / TILE * (n / TILE)), THREADS, 0, queue, c, (const uint16_t *)a,
              (const uint16_t *)b, n, k);
}
