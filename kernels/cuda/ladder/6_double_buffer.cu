/*
 * 6_double_buffer.cu - the next step is on its way while this one is multiplied.
 *
 * Changed   shared memory holds two steps. Before a thread multiplies the one it asks for its quads of the next, into
 *           registers; when it has multiplied it puts them into the other buffer.
 * Faster    because some hundred cycles of waiting for global memory pass behind 16 depths of multiply-adds, not before
 *           them. And one barrier a step is enough: what is written is not what the others still read.
 * Price     twice the shared memory and 8 registers.
 * Slow      still, because a warp's 32 lanes are a strip of 2 x 16: its results share few of the floats that it reads.
 *           And 2 reads of 16 bytes for 16 multiply-adds are half of what shared memory can bring.
 * Launch    block of 256 threads for a tile of 64 x 64, the column tile fastest.
 * Shared    16.5 KiB.
 * Order     one float sum a result, in the order of l.
 * Counted   barriers 36; shared requests 9472, conflicts 0.11 each; global requests 640, sectors 10240; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 4.2 ms, 32.6 TFLOP/s.
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

/* A thread's quads of a step, on their way. */
typedef struct {
    float4 left, right;
} share;

/* From a[TILE,k] and b[k,n]. */
GR_DEVICE share fetch(const float *a, const float *b, int64_t n, int64_t k)
{
    const int row = threadIdx.x / (STEP / QUAD), depth = threadIdx.x % (STEP / QUAD) * QUAD;
    const int l = threadIdx.x / SIDE, column = threadIdx.x % SIDE * QUAD;
    return (share){*(const float4 *)(a + row * k + depth), *(const float4 *)(b + l * n + column)};
}

GR_DEVICE void put(float (*tile_a)[PITCH], float (*tile_b)[TILE], share s)
{
    const int row = threadIdx.x / (STEP / QUAD), depth = threadIdx.x % (STEP / QUAD) * QUAD;
    tile_a[depth][row] = s.left.x, tile_a[depth + 1][row] = s.left.y;
    tile_a[depth + 2][row] = s.left.z, tile_a[depth + 3][row] = s.left.w;
    *(float4 *)&tile_b[threadIdx.x / SIDE][threadIdx.x % SIDE * QUAD] = s.right;
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
static __global__ void double_buffer(float *c, const float *a, const float *b, int64_t n, int64_t k)
{
    GR_SHARED(float, tile_a, [2][STEP][PITCH]);
    GR_SHARED(float, tile_b, [2][STEP][TILE]);
    const int64_t tiles_n = n / TILE;
    const int64_t first_i = blockIdx.x / tiles_n * TILE, first_j = blockIdx.x % tiles_n * TILE;
    a += first_i * k, b += first_j;
    float sum[QUAD][QUAD] = {};
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
    const int64_t i = first_i + threadIdx.x / SIDE * QUAD, j = first_j + threadIdx.x % SIDE * QUAD;
    for (int e = 0; e < QUAD; e++)
        *(float4 *)(c + (i + e) * n + j) = make_float4(sum[e][0], sum[e][1], sum[e][2], sum[e][3]);
}

extern "C" void GR_CUDA(ladder_double_buffer)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                              void *queue)
{
    GR_LAUNCH(double_buffer, (unsigned)(m / TILE * (n / TILE)), THREADS, 0, queue, c, (const float *)a,
              (const float *)b, n, k);
}
