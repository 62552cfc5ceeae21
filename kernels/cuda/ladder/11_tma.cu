/*
 * 11_tma.cu - one thread orders whole tiles, and barriers in memory count them.
 *
 * Changed   TMA copies a box of a matrix by a map of it: one instruction of one thread, which has no address to compute
 *           but the box's corner. The box comes swizzled, within rows of 128 bytes as in 9. Its bytes are counted by an
 *           mbarrier. So a warp of its own does nothing but order tiles, and the other eight nothing but multiply.
 * Faster    because 256 threads no longer compute addresses and start copies, and because nobody waits for all: the
 *           multiplying warps wait for a stage to be full, each for itself, the ordering thread for it to be empty.
 *           There is no __syncthreads in the loop.
 * Phases    A stage is filled again and again; an mbarrier tells its fillings apart by their parity, 0, 1, 0, ...
 *           full[i]: one arrival, that of the thread which orders, and the bytes; empty[i]: an arrival of each warp.
 *           At first nobody has to leave a stage: to wait for the phase before the first, parity 1, takes no time.
 * Price     compute capability 9.0; 96 KiB of shared memory, at a multiple of 1024 bytes, where the swizzle begins.
 * Launch    block of 8 warps that multiply, and one that orders, for a tile of 128 x 128, the column tile fastest.
 * Order     the 16 products of an instruction in the hardware's order, the instructions in the order of depth.
 * Counted   barriers 1; shared requests 426, conflicts 0.00 each; global requests 262, sectors 4096; lanes 30.6
 * Measured  H200, 4,096 x 4,096 x 4,096: 0.32 ms, 431 TFLOP/s.
 */
#include "kernels/cuda/hopper.h"
#include "kernels/cuda/ladder/ladder.h"

enum {
    TILE = 128,
    STEP = 64 /* 128 bytes of a row of a */,
    BOX = 64 /* columns of b that a copy brings */,
    STAGES = 3,
    PIECE = 8 /* halves of 16 bytes */,
    ACROSS = 64 / PIECE /* pieces of a row of either box */,
    WARPS = 8 /* that multiply */,
    THREADS = 32 * (WARPS + 1),
    ROWS = 4 /* fragments of a warp, 16 rows each */,
    COLUMNS = 4 /* 8 columns each */
};

typedef struct {
    uint4 a[STAGES][TILE * ACROSS], b[STAGES][TILE / BOX][STEP * ACROSS];
    uint64_t full[STAGES], empty[STAGES];
} stages;

/* Orders the steps of the tile at (i, j), as stages become empty. By one thread. */
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

/* Where piece p of a row lies: TMA's swizzle of 128 bytes. */
GR_DEVICE int place(int row, int p)
{
    return row * ACROSS + (p ^ row % 8);
}

/* This warp's part, from row on and from piece on of its box of b; as in 9. */
GR_DEVICE void multiply(float sum[ROWS][COLUMNS][4], const uint4 *tile_a, const uint4 *box_b, int row, int piece)
{
    const int line = threadIdx.x % 16, beside = threadIdx.x % 32 / 16;
    for (int depth = 0; depth < STEP; depth += 16) {
        uint32_t left[ROWS][4], right[COLUMNS / 2][4]; /* a load of b is two fragments */
        for (int r = 0; r < ROWS; r++)
            gr_ldmatrix_x4(left[r], &tile_a[place(row + r * 16 + line, depth / PIECE + beside)]);
        for (int s = 0; s < COLUMNS / 2; s++)
            gr_ldmatrix_x4_trans(right[s], &box_b[place(depth + line, piece + s * 2 + beside)]);
        for (int r = 0; r < ROWS; r++)
            for (int s = 0; s < COLUMNS; s++)
                gr_mma_f16(sum[r][s], left[r], right[s / 2] + s % 2 * 2);
    }
}

/* c[m,n] in floats, a[m,k] and b[k,n] in halves; m and n in whole tiles, k in steps */
static __global__ void tma(float *c, const __grid_constant__ gr_tensor_map a, const __grid_constant__ gr_tensor_map b,
                           int64_t n, int steps)
{
    GR_DYN_SHARED(stages, s);
    const int first_i = (int)(blockIdx.x / (n / TILE)) * TILE, first_j = (int)(blockIdx.x % (n / TILE)) * TILE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
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
    const int row = warp / 4 * (ROWS * 16), column = warp % 4 * (COLUMNS * 8); /* of this warp: warps are 2 x 4 */
    float sum[ROWS][COLUMNS][4] = {};
    for (int step = 0; step < steps; step++) {
        const int now = step % STAGES;
        gr_mbarrier_wait(&s->full[now], step / STAGES % 2);
        multiply(sum, s->a[now], s->b[now][column / BOX], row, column % BOX / PIECE);
        __syncwarp(); /* all lanes have read */
        if (lane == 0)
            gr_mbarrier_arrive(&s->empty[now]);
        __syncwarp(); /* as ldmatrix and mma take whole warps */
    }
    c += (first_i + row + lane / 4) * n + first_j + column + lane % 4 * 2;
    for (int r = 0; r < 2 * ROWS; r++) /* d[0], d[1]: row g; d[2], d[3]: row g + 8 */
        for (int x = 0; x < COLUMNS; x++)
            *(float2 *)(c + r * 8 * n + x * 8) = make_float2(sum[r / 2][x][r % 2 * 2], sum[r / 2][x][r % 2 * 2 + 1]);
}

extern "C" void GR_CUDA(ladder_tma)(float *c, const void *a, const void *b, int64_t m, int64_t n, int64_t k,
                                    void *queue)
{
    GR_ALLOW_SHARED(tma, sizeof(stages));
    GR_LAUNCH(tma, (unsigned)(m / TILE * (n / TILE)), THREADS, sizeof(stages), queue, c,
              gr_tensor_map_of(a, m, k, TILE, STEP), gr_tensor_map_of(b, k, n, STEP, BOX), n, (int)(k / STEP));
}
