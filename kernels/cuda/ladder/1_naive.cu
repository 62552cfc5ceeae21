/*
 * 1_naive.cu - a thread for a result.
 *
 * Idea      c[i,j] = sum_l a[i,l] b[l,j] is m*n sums that need nothing of each other: a GPU has threads for all of
 *           them. Thread x of a block takes row x of a tile of 32 x 32, thread y column y, as one reads "i, j".
 * Slow      because the 32 lanes of a warp differ in x, so in i: at each step of l they read 32 rows of a, k floats
 *           apart. Memory comes in pieces of 32 bytes, and each lane fetches a piece of its own for 4 of them; the same
 *           for c. And for 2 operations a thread reads 8 bytes.
 * Launch    block of 32 x 32 threads for a tile, the column tile fastest.
 * Order     one float sum in the order of l.
 * Counted   barriers 0; shared requests 0, conflicts 0.00 each; global requests 131584, sectors 2179072; lanes 32.0
 * Measured  H200, 4,096 x 4,096 x 4,096: 275 ms, 0.5 TFLOP/s.
 */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

enum { TILE = 32 };

/* c[m,n], a[m,k], b[k,n] */
static __global__ void naive(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k)
{
    const int64_t tiles_n = (n + TILE - 1) / TILE;
    const int64_t i = blockIdx.x / tiles_n * TILE + threadIdx.x, j = blockIdx.x % tiles_n * TILE + threadIdx.y;
    if (i >= m || j >= n)
        return;
    float sum = 0;
    for (int64_t l = 0; l < k; l++)
        sum += a[i * k + l] * b[l * n + j];
    c[i * n + j] = sum;
}

extern "C" void GR_CUDA(ladder_naive)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                      void *queue)
{
    const int64_t tiles = (m + TILE - 1) / TILE * ((n + TILE - 1) / TILE);
    GR_LAUNCH(naive, (unsigned)tiles, dim3(TILE, TILE), 0, queue, c, (const float *)a, (const float *)b, m, n, k);
}
