/* races.cu - accesses of shared and global memory in no order, and reads of what nobody wrote. */
#include "kernels/cuda/reduce.cuh"
#include "tests/simt/planted.h"

BEGINS(tile_overwritten)
/* out[i] = sum of x[., n - 1 - i] over the rows; the next row overwrites the tile while others still read it */
template <bool right> static __global__ void tile_overwritten(float *out, const float *x, int rows)
{
    GR_SHARED(float, tile, [64]);
    float sum = 0;
    for (int r = 0; r < rows; r++) {
        tile[threadIdx.x] = x[r * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        if (right)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}
ENDS(tile_overwritten)

static bool run_tile_overwritten(bool right)
{
    float *out = floats(64), *x = floats(64 * 3);
    RUN(tile_overwritten, right, 1, 64, out, x, 3);
    return out[63] == 64 + 128;
}

BEGINS(live_stage_overwritten)
/* Two stages in turn: the next one may be filled while the current one is read. */
template <bool right> static __global__ void live_stage_overwritten(float *out, const float *x, int rows)
{
    GR_SHARED(float, stage, [2][64]);
    float sum = 0;
    stage[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int r = 0; r < rows; r++) {
        const int current = r % 2, next = right ? 1 - current : current;
        sum += stage[current][63 - threadIdx.x];
        if (r + 1 < rows)
            stage[next][threadIdx.x] = x[(r + 1) * 64 + threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
ENDS(live_stage_overwritten)

static bool run_live_stage_overwritten(bool right)
{
    float *out = floats(64), *x = floats(64 * 3);
    RUN(live_stage_overwritten, right, 1, 64, out, x, 3);
    return out[63] == 64 + 128;
}

BEGINS(word_of_a_quad)
/* out[i] = sum of 4 neighbours of 128, which two warps read at once; then words of them are refilled */
template <bool right> static __global__ void word_of_a_quad(float *out, const float *x)
{
    GR_SHARED(float, tile, [128]);
    for (int i = threadIdx.x; i < 128; i += 64)
        tile[i] = x[i];
    __syncthreads();
    const float4 v = *(const float4 *)&tile[4 * (threadIdx.x % 32)];
    if (right)
        __syncthreads();
    tile[threadIdx.x] = -1;
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
ENDS(word_of_a_quad)

static bool run_word_of_a_quad(bool right)
{
    float *out = floats(64), *x = floats(128);
    RUN(word_of_a_quad, right, 1, 64, out, x);
    return out[0] == 6 && out[32] == 6;
}

BEGINS(quad_over_words)
/* Words are written one by one and then, by others, four at a time. */
template <bool right> static __global__ void quad_over_words(float *out, const float *x)
{
    GR_SHARED(float, tile, [64]);
    tile[threadIdx.x] = 0;
    if (right)
        __syncthreads();
    if (threadIdx.x < 16)
        *(float4 *)&tile[4 * threadIdx.x] = *(const float4 *)&x[4 * threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
ENDS(quad_over_words)

static bool run_quad_over_words(bool right)
{
    float *out = floats(64), *x = floats(64);
    RUN(quad_over_words, right, 1, 64, out, x);
    return out[1] == 1 && out[63] == 63;
}

BEGINS(last_reader_late)
/*
 * Two warps read the same quads, one after the other as a rule; the first does not wait for the second and refills
 * them.
 */
template <bool right> static __global__ void last_reader_late(float *out, const float *x)
{
    GR_SHARED(float4, tile, [32]);
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32)
        tile[lane] = ((const float4 *)x)[lane];
    __syncthreads();
    const float4 v = tile[lane];
    __syncwarp();
    if (right)
        __syncthreads();
    if (threadIdx.x < 31)
        tile[lane] = make_float4(-1, -1, -1, -1);
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
ENDS(last_reader_late)

static bool run_last_reader_late(bool right)
{
    float *out = floats(64), *x = floats(128);
    RUN(last_reader_late, right, 1, 64, out, x);
    return out[0] == 6 && out[32] == 6;
}

BEGINS(filled_a_moment_ago)
/*
 * One warp fills a tile again that another one reads, but for the thread that comes to the barrier last and goes on
 * first.
 */
template <bool right> static __global__ void filled_a_moment_ago(float *out, const float *x)
{
    GR_SHARED(float, tile, [64]);
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < 32)
        tile[threadIdx.x] = x[threadIdx.x];
    if (right)
        __syncthreads();
    if (threadIdx.x >= 32 && threadIdx.x < 63)
        out[threadIdx.x] = tile[63 - threadIdx.x];
}
ENDS(filled_a_moment_ago)

static bool run_filled_a_moment_ago(bool right)
{
    float *out = floats(64), *x = floats(64);
    RUN(filled_a_moment_ago, right, 1, 64, out, x);
    return out[32] == 31 && out[62] == 1;
}

BEGINS(threads_share_a_half)
/*
 * y[b][i] = i + 1 through shared memory: two halves of one word are no matter, one half of two threads is. Another
 * block's threads have the halves of others.
 */
template <bool right> static __global__ void threads_share_a_half(float *y)
{
    GR_SHARED(uint16_t, tile, [64]);
    const int mine = (threadIdx.x + 32 * blockIdx.x) % 64;
    tile[mine] = 0;
    __syncthreads();
    tile[right ? mine : mine / 2 * 2] = (uint16_t)(mine + 1);
    __syncthreads();
    y[64 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
}
ENDS(threads_share_a_half)

static bool run_threads_share_a_half(bool right)
{
    float *y = floats(128);
    RUN(threads_share_a_half, right, 2, 64, y);
    return y[0] == 1 && y[1] == 2 && y[65] == 2;
}

BEGINS(never_written)
/* out[c] = sum of column c + 1; columns that do not exist are summed all the same and the result is thrown away. */
template <bool right> static __global__ void never_written(float *out, const float *x, int columns)
{
    GR_SHARED(float, s, [2][32]);
    const int c = threadIdx.x;
    if (right || c < columns)
        s[threadIdx.y][c] = c < columns ? x[threadIdx.y * columns + c] : 0;
    __syncthreads();
    const float next = __shfl_down_sync(0xFFFFFFFF, s[0][c] + s[1][c], 1);
    if (threadIdx.y == 0 && c + 1 < columns)
        out[c] = next;
}
ENDS(never_written)

static bool run_never_written(bool right)
{
    float *out = floats(20), *x = floats(40);
    RUN(never_written, right, 1, dim3(32, 2), out, x, 20);
    return out[18] == 19 + 39;
}

BEGINS(blocks_add)
/* *out += sum of x[.]: blocks that add to one word lose each other's sums; an integer may be added atomically. */
template <bool right> static __global__ void blocks_add(int *out, const float *x)
{
    const int sum = (int)warp_sum(x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        if (right)
            atomicAdd(out, sum);
        else
            *out += sum;
    }
}
ENDS(blocks_add)

static bool run_blocks_add(bool right)
{
    int *out = (int *)floats(1);
    float *x = floats(128);
    RUN(blocks_add, right, 4, 32, out, x);
    return *out == 127 * 64;
}

BEGINS(blocks_share_a_half)
/* y[i] += 1 by a block for each: two halves of one word are no matter, one half of two blocks is. */
template <bool right> static __global__ void blocks_share_a_half(uint16_t *y)
{
    const int i = right ? blockIdx.x : blockIdx.x / 2 * 2;
    y[i] = (uint16_t)(y[i] + 1);
}
ENDS(blocks_share_a_half)

static bool run_blocks_share_a_half(bool right)
{
    uint16_t *y = (uint16_t *)floats(2);
    y[0] = y[1] = y[2] = y[3] = 7;
    RUN(blocks_share_a_half, right, 4, 1, y);
    return y[0] == 8 && y[1] == 8 && y[3] == 8;
}

BEGINS(block_reads_neighbour)
/* y[i] = x[i] + x of the neighbouring block: in place a block reads what another one may have written */
template <bool right> static __global__ void block_reads_neighbour(float *y, const float *x)
{
    const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + x[(i + blockDim.x) % n];
}
ENDS(block_reads_neighbour)

static bool run_block_reads_neighbour(bool right)
{
    float *x = floats(64), *y = right ? floats(64) : x;
    RUN(block_reads_neighbour, right, 2, 32, y, x);
    return y[0] == 32;
}

BEGINS(global_without_barrier)
/* Threads of one block exchange through global memory. */
template <bool right> static __global__ void global_without_barrier(float *out, float *between)
{
    between[threadIdx.x] = threadIdx.x;
    if (right)
        __syncthreads();
    out[threadIdx.x] = between[(threadIdx.x + 32) % 64];
}
ENDS(global_without_barrier)

static bool run_global_without_barrier(bool right)
{
    float *out = floats(64), *between = floats(64);
    RUN(global_without_barrier, right, 1, 64, out, between);
    return out[0] == 32;
}

BEGINS(plain_beside_atomic)
/* A counter in shared memory that one thread clears. */
template <bool right> static __global__ void plain_beside_atomic(int *out)
{
    GR_SHARED(int, count, [1]);
    if (threadIdx.x == 0)
        count[0] = 0;
    __syncthreads();
    atomicAdd(&count[0], 1);
    if (right)
        __syncthreads();
    if (threadIdx.x == 40)
        *out = count[0];
}
ENDS(plain_beside_atomic)

static bool run_plain_beside_atomic(bool right)
{
    int *out = (int *)floats(1);
    RUN(plain_beside_atomic, right, 1, 64, out);
    return *out == 64;
}

BEGINS(last_one_adds)
/*
 * The last of five blocks to come to a word adds what all of them left, in their order; launched twice. Slips: a block
 * counts before all of its threads have left their part; no fence before the count, or none behind it; the count of the
 * last one does not set the word back to 0; the last one's own part is added first, whichever block it is.
 */
enum { LEAVING = 5, PARTS = 64 };
template <bool MEETS, bool BEFORE, bool BEHIND, bool WRAPS, bool IN_ORDER>
static __global__ void last_one_adds(float *out, float *left, unsigned *word)
{
    GR_SHARED(bool, last, [1]);
    const float mine = blockIdx.x == 0 ? 0x1p24f : blockIdx.x == LEAVING - 1 ? -0x1p24f : (float)threadIdx.x;
    left[blockIdx.x * PARTS + threadIdx.x] = mine;
    if (MEETS)
        __syncthreads();
    if (threadIdx.x == 0) {
        if (BEFORE)
            __threadfence();
        last[0] = (WRAPS ? atomicInc(word, LEAVING - 1) : atomicAdd(word, 1u)) == LEAVING - 1;
        if (BEHIND)
            __threadfence();
    }
    __syncthreads();
    float sum = IN_ORDER ? 0 : mine;
    for (int b = 0; last[0] && b < LEAVING; b++)
        sum += IN_ORDER || b != (int)blockIdx.x ? left[b * PARTS + threadIdx.x] : 0;
    if (last[0])
        out[threadIdx.x] = sum;
}
ENDS(last_one_adds)

/* 2^24 + 1 is rounded to 2^24, 2^24 + 3 to 2^24 + 4. */
#define LAST_ONE_ADDS(...)                                                                 \
    do {                                                                                   \
        memset(out, 0, PARTS * sizeof *out);                                               \
        GR_LAUNCH((last_one_adds<__VA_ARGS__>), LEAVING, PARTS, 0, NULL, out, left, word); \
    } while (0)
#define RUN_LAST_ONE_ADDS(name, ...)                                 \
    static bool run_##name(bool right)                               \
    {                                                                \
        float *out = floats(PARTS), *left = floats(PARTS * LEAVING); \
        unsigned *word = (unsigned *)floats(1);                      \
        for (int i = 0; i < 2; i++)                                  \
            if (right)                                               \
                LAST_ONE_ADDS(true, true, true, true, true);         \
            else                                                     \
                LAST_ONE_ADDS(__VA_ARGS__);                          \
        return out[1] == 0 && out[3] == 12;                          \
    }
RUN_LAST_ONE_ADDS(counted_too_early, false, true, true, true, true)
RUN_LAST_ONE_ADDS(no_fence_before_count, true, false, true, true, true)
RUN_LAST_ONE_ADDS(no_fence_behind_count, true, true, false, true, true)
RUN_LAST_ONE_ADDS(count_not_set_back, true, true, true, false, true)
RUN_LAST_ONE_ADDS(added_as_they_came, true, true, true, true, false)
#define PLANT_LAST(name, slip, seen, report)                                                                           \
    {                                                                                                                  \
#name, __FILE__, last_one_adds_begins, last_one_adds_ends, "last_one_adds<" slip ">", run_##name, seen, report \
    }

BEGINS(handed_on)
/*
 * What the first of three blocks leaves the third reads, though it meets the second alone: each counts in the word that
 * the next one waits for. Slip: the second has no fence between its wait and its count.
 */
template <bool right> static __global__ void handed_on(float *out, float *left, unsigned *words)
{
    GR_SHARED(unsigned, turn, [1]);
    if (threadIdx.x == 0)
        turn[0] = atomicInc(words, 2);
    __syncthreads();
    if (turn[0] == 0)
        left[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (turn[0] > 0 && atomicAdd(words + turn[0], 0u) == 0)
            continue;
        if (right || turn[0] != 1)
            __threadfence();
        if (turn[0] < 2)
            atomicAdd(words + turn[0] + 1, 1u);
    }
    __syncthreads();
    if (turn[0] == 2)
        out[threadIdx.x] = left[threadIdx.x];
}
ENDS(handed_on)

static bool run_handed_on(bool right)
{
    float *out = floats(PARTS), *left = floats(PARTS);
    unsigned *words = (unsigned *)floats(3);
    memset(words, 0, 3 * sizeof *words);
    RUN(handed_on, right, 3, PARTS, out, left, words);
    return out[3] == 3;
}

BEGINS(adds_under_lock)
/* Four blocks add to a sum, each while it has the lock. Slip: they give it back without a fence behind their adding. */
template <bool right> static __global__ void adds_under_lock(float *sum, unsigned *lock)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0u, 1u) != 0)
            continue;
        __threadfence();
        *sum += (float)(blockIdx.x + 1);
        if (right)
            __threadfence();
        atomicExch(lock, 0u);
    }
}
ENDS(adds_under_lock)

static bool run_adds_under_lock(bool right)
{
    float *sum = floats(1);
    unsigned *lock = (unsigned *)floats(1);
    *sum = 0, *lock = 0;
    RUN(adds_under_lock, right, 4, 64, sum, lock);
    return *sum == 10;
}

const planted of_races[] = {
    PLANT(tile_overwritten, IN_CHECK, "race: "),
    PLANT(live_stage_overwritten, IN_CHECK, "race: "),
    PLANT(word_of_a_quad, IN_CHECK, "race: "),
    PLANT(quad_over_words, IN_CHECK, "race: write after write, unordered, on shared tile + "),
    PLANT(last_reader_late, IN_CHECK, "race: "),
    PLANT(filled_a_moment_ago, IN_CHECK, "race: "),
    PLANT(threads_share_a_half, IN_CHECK, "race: write after write, unordered, on shared tile + "),
    PLANT(never_written, IN_CHECK, "uninitialised: read on shared s + "),
    PLANT(blocks_add, IN_CHECK, "race: "),
    PLANT(blocks_share_a_half, IN_CHECK, "race: "),
    PLANT(block_reads_neighbour, IN_CHECK, "race: "),
    PLANT(global_without_barrier, IN_CHECK, "race: "),
    PLANT(plain_beside_atomic, IN_CHECK, "race: "),
    PLANT_LAST(counted_too_early, "false, true, true, true, true", IN_CHECK, "race: "),
    PLANT_LAST(no_fence_before_count, "true, false, true, true, true", IN_CHECK, "race: "),
    PLANT_LAST(no_fence_behind_count, "true, true, false, true, true", IN_CHECK, "race: "),
    PLANT(handed_on, IN_CHECK, "race: "),
    PLANT(adds_under_lock, IN_CHECK, "race: "),
    PLANT_LAST(count_not_set_back, "true, true, true, false, true", IN_RESULT, ""),
    PLANT_LAST(added_as_they_came, "true, true, true, true, false", BY_CHANCE, ""),
    NO_MORE,
};
