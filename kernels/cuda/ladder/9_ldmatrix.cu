/*
 * 9_ldmatrix.cu - fragments are loaded as matrices, from pieces in swizzled order.
 *
 * Changed   ldmatrix takes 8 rows of 16 bytes wherever they lie, four such matrices at a time, and deals them out to
 *           the lanes in the order of a fragment; .trans turns each matrix on the way. So one instruction replaces 4
 *           reads of a, or 8 of b. The tiles are arrays of pieces of 16 bytes, and piece p of a row lies at p xor a
 *           number of the row: docs/ladders.md draws it.
 * Faster    because of a quarter of the requests, and none of them takes a second turn. Without the swizzle the 8 rows
 *           of a matrix would begin in the same bank (b) or in two of them (a).
 * Slow      still, because what goes to shared memory passes through registers, and a step is on its way for only as
 *           long as one step is multiplied.
 * Launch    block of 256 threads for a tile of 128 x 128, the column tile fastest.
 * Shared    32 KiB, two buffers as in 6.
 * Order     the 16 products of an instruction in the hardware's order, the instructions in the order of depth.
 * Counted   barriers 5; shared requests 512, conflicts 0.00 each; global requests 384, sectors 4096; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 0.87 ms, 156 TFLOP/s.
 */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 128,
    STEP = 32,
    PIECE = 8 /* halves of 16 bytes */,
    ACROSS_A = STEP / PIECE /* pieces of a row of a's tile */,
    ACROSS_B = TILE / PIECE,
    THREADS = 256,
    EACH = TILE * STEP / PIECE / THREADS /* pieces that a thread brings of a tile */,
    ROWS = 4 /* fragments of a warp, 16 rows each */,
    COLUMNS = 4 /* 8 columns each */
};

/* Where piece p of a row lies: 8 rows, of which two of a fill all banks but only half of one of b, differ in banks. */
GR_DEVICE int place_a(int row, int p)
{
    return row * ACROSS_A + (p ^ row / 2 % 4);
}
GR_DEVICE int place_b(int row, int p)
{
    return row * ACROSS_B + (p ^ row % 8);
}

/* A thread's pieces of a step, on their way. */
typedef struct {
    uint4 left[EACH], right[EACH];
} share;

/* From a[TILE,k] and b[k,n]. */
GR_DEVICE share fetch(const uint16_t *a, const uint16_t *b, int64_t n, int64_t k)
{
    share s;
    for (int e = 0, at = threadIdx.x; e < EACH; e++, at += THREADS) {
        s.left[e] = *(const uint4 *)(a + at / ACROSS_A * k + at % ACROSS_A * PIECE);
        s.right[e] = *(const uint4 *)(b + at / ACROSS_B * n + at % ACROSS_B * PIECE);
    }
    return s;
}

GR_DEVICE void put(uint4 *tile_a, uint4 *tile_b, share s)
{
    for (int e = 0, at = threadIdx.x; e < EACH; e++, at += THREADS) {
        tile_a[place_a(at / ACROSS_A, at % ACROSS_A)] = s.left[e];
        tile_b[place_b(at / ACROSS_B, at % ACROSS_B)] = s.right[e];
    }
}

/*
 * This warp's part of the tile, from row and column on. Lanes 0 to 15 name the rows of the first two matrices, 16 to 31
 * those of the other two, a piece further.
 */
GR_DEVICE void multiply(float sum[ROWS][COLUMNS][4], const uint4 *tile_a, const uint4 *tile_b, int row, int column)
{
    const int line = threadIdx.x % 16, beside = threadIdx.x % 32 / 16;
    for (int depth = 0; depth < STEP; depth += 16) {
        uint32_t left[ROWS][4], right[COLUMNS / 2][4]; /* a load of b is two fragments */
        for (int r = 0; r < ROWS; r++)
            gr_ldmatrix_x4(left[r], &tile_a[place_a(row + r * 16 + line, depth / PIECE + beside)]);
        for (int s = 0; s < COLUMNS / 2; s++)
            gr_ldmatrix_x4_trans(right[s], &tile_b[place_b(depth + line, column / PIECE + s * 2 + beside)]);
        for (int r = 0; r < ROWS; r++)
            for (int s = 0; s < COLUMNS; s++)
                gr_mma_f16(sum[r][s], left[r], right[s / 2] + s % 2 * 2);
    }
}

/* c[m,n] in floats, a[m,k] and b[k,n] in halves; m and n in whole tiles, k in whole steps */
static __global__ void ldmatrix(float *c, const uint16_t *a, const uint16_t *b, int64_t n, int64_t k)
{
    GR_SHARED(uint4, tile_a, [2][TILE * ACROSS_A]);
    GR_SHARED(uint4, tile_b, [2][STEP * ACROSS_B]);
    const int64_t first_i = blockIdx.x / (n / TILE) * TILE, first_j = blockIdx.x % (n / TILE) * TILE;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 / 4 * (ROWS * 16); /* of this warp: warps are 2 x 4 */
    const int column = threadIdx.x / 32 % 4 * (COLUMNS * 8);
    a += first_i * k, b += first_j;
    float sum[ROWS][COLUMNS][4] = {};
    put(tile_a[0], tile_b[0], fetch(a, b, n, k));
    __syncthreads();
    for (int64_t step = 0, now = 0; step < k; step += STEP, now ^= 1) {
        const int64_t next = step + STEP;
        share s = {};
        if (next < k)
            s = fetch(a + next, b + next * n, n, k);
        multiply(sum, tile_a[now], tile_b[now], row, column);
        if (next < k)
            put(tile_a[now ^ 1], tile_b[now ^ 1], s);
        __syncthreads();
    }
    c += (first_i + row + lane / 4) * n + first_j + column + lane % 4 * 2;
    for (int r = 0; r < 2 * ROWS; r++) /* d[0], d[1]: row g; d[2], d[3]: row g + 8 */
        for (int s = 0; s < COLUMNS; s++)
            *(float2 *)(c + r * 8 * n + s * 8) = make_float2(sum[r / 2][s][r % 2 * 2], sum[r / 2][s][r % 2 * 2 + 1]);
}

extern "C" void GR_CUDA(ladder_ldmatrix)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                         void *queue)
{
    GR_LAUNCH(ldmatrix, (unsigned)(m / TILE * (n / TILE)), THREADS, 0, queue, c, (const uint16_t *)a,
              (const uint16_t *)b, n, k);
}
