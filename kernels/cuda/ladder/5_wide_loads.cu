/*
 * 5_wide_loads.cu - a read brings 16 bytes.
 *
 * Changed   every read is of a float4, from global and from shared memory. A thread's 4 x 4 results lie together now,
 *           not 16 apart: at each l it takes 4 neighbouring rows of a and 4 neighbouring columns of b, one read each.
 *           For that the tile of a lies in shared memory on its side, [depth][row].
 * Faster    because a multiply-add and a read are one instruction each, whatever the read brings: 2 reads now serve 16
 *           multiply-adds, where it was 8. From global memory a quarter of the requests bring the same sectors.
 * Price     a quad of a must be turned as it is stored, float by float. Rows of 64 floats would put a warp's depths
 *           into one bank, four turns; 4 floats more a row make it two. And matrices must come in whole tiles, so that
 *           every quad lies at a multiple of 16 bytes: the operations' way with the rest is operand.cuh.
 * Slow      still, because all threads wait while a step's tiles come in.
 * Launch    block of 256 threads for a tile of 64 x 64, the column tile fastest.
 * Shared    8.3 KiB.
 * Order     one float sum a result, in the order of l.
 * Counted   barriers 64; shared requests 9472, conflicts 0.11 each; global requests 640, sectors 10240; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 4.4 ms, 31.6 TFLOP/s.
 */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 64,
    STEP = 16,
    QUAD = 4,
    SIDE = TILE / QUAD /* threads along a side of the tile */,
    THREADS = SIDE * SIDE,
    PITCH = TILE + 4
};

/* A quad by each thread: of a[TILE,k] into tile_a[STEP][TILE], of b[k,n] into tile_b[STEP][TILE]. */
GR_DEVICE void load(float (*tile_a)[PITCH], float (*tile_b)[TILE], const float *a, const float *b, int64_t n, int64_t k)
{
    const int row = threadIdx.x / (STEP / QUAD), depth = threadIdx.x % (STEP / QUAD) * QUAD;
    const float4 left = *(const float4 *)(a + row * k + depth);
    tile_a[depth][row] = left.x, tile_a[depth + 1][row] = left.y;
    tile_a[depth + 2][row] = left.z, tile_a[depth + 3][row] = left.w;
    const int l = threadIdx.x / SIDE, column = threadIdx.x % SIDE * QUAD;
    *(float4 *)&tile_b[l][column] = *(const float4 *)(b + l * n + column);
}

GR_DEVICE void multiply(float sum[QUAD][QUAD], const float (*tile_a)[PITCH], const float (*tile_b)[TILE])
{
    const int x = threadIdx.x % SIDE * QUAD, y = threadIdx.x / SIDE * QUAD;
    for (int l = 0; l < STEP; l++) {
        const float4 left = *(const float4 *)&tile_a[l][y], right = *(const float4 *)&tile_b[l][x];
        const float row[QUAD] = {left.x, left.y, left.z, left.w};
        const float column[QUAD] = {right.x, right.y, right.z, right.w};
        for (int e = 0; e < QUAD; e++)
            for (int f = 0; f < QUAD; f++)
                sum[e][f] += row[e] * column[f];
    }
}

/* c[m,n], a[m,k], b[k,n]; m and n in whole tiles, k in whole steps */
static __global__ void wide_loads(float *c, const float *a, const float *b, int64_t n, int64_t k)
{
    GR_SHARED(float, tile_a, [STEP][PITCH]);
    GR_SHARED(float, tile_b, [STEP][TILE]);
    const int64_t tiles_n = n / TILE;
    const int64_t first_i = blockIdx.x / tiles_n * TILE, first_j = blockIdx.x % tiles_n * TILE;
    float sum[QUAD][QUAD] = {};
    for (int64_t step = 0; step < k; step += STEP) {
        load(tile_a, tile_b, a + first_i * k + step, b + step * n + first_j, n, k);
        __syncthreads();
        multiply(sum, tile_a, tile_b);
        __syncthreads();
    }
    const int64_t i = first_i + threadIdx.x / SIDE * QUAD, j = first_j + threadIdx.x % SIDE * QUAD;
    for (int e = 0; e < QUAD; e++)
        *(float4 *)(c + (i + e) * n + j) = make_float4(sum[e][0], sum[e][1], sum[e][2], sum[e][3]);
}

extern "C" void GR_CUDA(ladder_wide_loads)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                           void *queue)
{
    GR_LAUNCH(wide_loads, (unsigned)(m / TILE * (n / TILE)), THREADS, 0, queue, c, (const float *)a, (const float *)b,
              n, k);
}
