/*
 * 7_warp_tile.cu - a warp makes a tile of its own, its lanes interleaved.
 *
 * Changed   the tile is 128 x 128. Each of the 8 warps makes 32 x 64 of it, its lanes 4 x 8, and a lane 8 x 8 results:
 *           two quads of rows, 16 apart, by two quads of columns, 32 apart.
 * Faster    because at each l a lane reads 4 quads for 64 multiply-adds, half as many for each. Between the two quads
 *           of a lane lie those of the other lanes: the 8 lanes of a row read 128 bytes side by side, every bank once,
 *           where 8 neighbouring columns a lane would meet each bank twice; and the rows' quads are shared by 8 lanes.
 *           From global memory come 8 bytes for 256 operations.
 * Price     64 sums, 16 factors and 16 floats on their way: some 150 registers, so one block on a multiprocessor.
 * Slow      still? Little is left but the multiply-adds themselves. More of them is another kind of hardware: 8.
 * Launch    block of 256 threads for a tile of 128 x 128, the column tile fastest.
 * Shared    32.5 KiB, two buffers as in 6.
 * Order     one float sum a result, in the order of l.
 * Counted   barriers 9; shared requests 4736, conflicts 0.11 each; global requests 384, sectors 6144; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 3.3 ms, 41 TFLOP/s.
 */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 128,
    STEP = 16,
    QUAD = 4,
    THREADS = 256,
    EACH = 2 /* quads that a thread brings of a tile, and that it has of rows and columns */,
    MINE = EACH * QUAD,
    PITCH = TILE + 4,
    NEXT_ROWS = 4 * QUAD /* from a lane's quad of rows to its next one: 4 lanes further */,
    NEXT_COLUMNS = 8 * QUAD
};

/* A thread's quads of a step, of a[TILE,k] and b[k,n], on their way. */
typedef struct {
    float4 left[EACH], right[EACH];
} share;
GR_DEVICE share fetch(const float *a, const float *b, int64_t n, int64_t k)
{
    share s;
    for (int e = 0, at = threadIdx.x; e < EACH; e++, at += THREADS) {
        s.left[e] = *(const float4 *)(a + at / (STEP / QUAD) * k + at % (STEP / QUAD) * QUAD);
        s.right[e] = *(const float4 *)(b + at / (TILE / QUAD) * n + at % (TILE / QUAD) * QUAD);
    }
    return s;
}

GR_DEVICE void put(float (*tile_a)[PITCH], float (*tile_b)[TILE], share s)
{
    for (int e = 0, at = threadIdx.x; e < EACH; e++, at += THREADS) {
        const int row = at / (STEP / QUAD), depth = at % (STEP / QUAD) * QUAD;
        tile_a[depth][row] = s.left[e].x, tile_a[depth + 1][row] = s.left[e].y;
        tile_a[depth + 2][row] = s.left[e].z, tile_a[depth + 3][row] = s.left[e].w;
        *(float4 *)&tile_b[at / (TILE / QUAD)][at % (TILE / QUAD) * QUAD] = s.right[e];
    }
}

/* This lane's first row and column, in the tile: warps are 4 x 2, lanes 4 x 8. */
GR_DEVICE int my_row(void)
{
    return threadIdx.x / 32 / 2 * 32 + threadIdx.x % 32 / 8 * QUAD;
}
GR_DEVICE int my_column(void)
{
    return threadIdx.x / 32 % 2 * 64 + threadIdx.x % 8 * QUAD;
}

GR_DEVICE void take(float to[QUAD], const float *quad)
{
    const float4 v = *(const float4 *)quad;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

GR_DEVICE void multiply(float sum[MINE][MINE], const float (*tile_a)[PITCH], const float (*tile_b)[TILE])
{
    for (int l = 0; l < STEP; l++) {
        float row[MINE], column[MINE];
        for (int e = 0; e < EACH; e++) {
            take(row + e * QUAD, &tile_a[l][my_row() + e * NEXT_ROWS]);
            take(column + e * QUAD, &tile_b[l][my_column() + e * NEXT_COLUMNS]);
        }
        for (int i = 0; i < MINE; i++)
            for (int j = 0; j < MINE; j++)
                sum[i][j] += row[i] * column[j];
    }
}

/* c[m,n], a[m,k], b[k,n]; m and n in whole tiles, k in whole steps */
static __global__ void warp_tile(float *c, const float *a, const float *b, int64_t n, int64_t k)
{
    GR_SHARED(float, tile_a, [2][STEP][PITCH]);
    GR_SHARED(float, tile_b, [2][STEP][TILE]);
    const int64_t first_i = blockIdx.x / (n / TILE) * TILE, first_j = blockIdx.x % (n / TILE) * TILE;
    a += first_i * k, b += first_j;
    float sum[MINE][MINE] = {};
    put(tile_a[0], tile_b[0], fetch(a, b, n, k));
    __syncthreads();
    int now = 0;
    for (int64_t step = 0; step < k; step += STEP, now ^= 1) {
        const int64_t next = step + STEP;
        share s = {};
        if (next < k)
            s = fetch(a + next, b + next * n, n, k);
        multiply(sum, tile_a[now], tile_b[now]);
        if (next < k)
            put(tile_a[now ^ 1], tile_b[now ^ 1], s);
        __syncthreads();
    }
    c += (first_i + my_row()) * n + first_j + my_column();
    for (int i = 0; i < MINE; i++)
        for (int j = 0; j < MINE; j += QUAD)
            *(float4 *)(c + (i / QUAD * NEXT_ROWS + i % QUAD) * n + j / QUAD * NEXT_COLUMNS) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

extern "C" void GR_CUDA(ladder_warp_tile)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                          void *queue)
{
    GR_LAUNCH(warp_tile, (unsigned)(m / TILE * (n / TILE)), THREADS, 0, queue, c, (const float *)a, (const float *)b, n,
              k);
}
