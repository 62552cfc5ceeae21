/* tiles.cu - TMA and barriers in memory: bytes told wrongly, phases mistaken, tiles used too early or too late. */
#include "kernels/cuda/hopper.h"
#include "tests/simt/planted.h"

/* out[i] = word 255 - i of an 8 x 64 tile of halves: 256 words, 32 to a row. */
enum { ROWS = 8, COLUMNS = 64, TILE = ROWS * COLUMNS * 2, WORDS = TILE / 4 };

static gr_tensor_map map_of(const float *x, int rows)
{
    return gr_tensor_map_of(x, rows, COLUMNS, ROWS, COLUMNS);
}

/* One barrier of one arrival, known to all. */
static __device__ void set_up(uint64_t *full, bool fence)
{
    if (threadIdx.x == 0) {
        gr_mbarrier_init(full, 1);
        if (fence)
            gr_fence_async();
    }
    __syncthreads();
}

/* The word of a row of the tile, where the swizzle has put it. */
static __device__ int place(int row, int word)
{
    return row * 32 + ((word / 4 ^ row % 8) * 4 + word % 4);
}

static __device__ void turn(float *out, const float *tile)
{
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        out[i] = tile[place((WORDS - 1 - i) / 32, (WORDS - 1 - i) % 32)];
}

/* A tile from one thread to all, in one way that is right. */
#define ONE_TILE(name, fence, bytes, target, expects, waits)                                                 \
    template <bool right> static __global__ void name(float *out, const __grid_constant__ gr_tensor_map map) \
    {                                                                                                        \
        GR_DYN_SHARED(float, tile);                                                                          \
        GR_SHARED(uint64_t, full, [1]);                                                                      \
        set_up(full, fence);                                                                                 \
        if (threadIdx.x == 0) {                                                                              \
            if (expects)                                                                                     \
                gr_mbarrier_expect(full, bytes);                                                             \
            else                                                                                             \
                gr_mbarrier_arrive(full);                                                                    \
            gr_tma_load(target, &map, 0, 0, full);                                                           \
        }                                                                                                    \
        if (waits)                                                                                           \
            gr_mbarrier_wait(full, 0);                                                                       \
        turn(out, tile);                                                                                     \
        if (!(waits))                                                                                        \
            gr_mbarrier_wait(full, 0);                                                                       \
    }

#define RUN_TILE(kernel, right, ...)                                              \
    do {                                                                          \
        if (right)                                                                \
            GR_LAUNCH((kernel<true>), 1, 64, 2 * TILE + 128, NULL, __VA_ARGS__);  \
        else                                                                      \
            GR_LAUNCH((kernel<false>), 1, 64, 2 * TILE + 128, NULL, __VA_ARGS__); \
    } while (0)

#define RUNS(name)                                               \
    static bool run_##name(bool right)                           \
    {                                                            \
        float *out = floats(WORDS), *x = floats(WORDS);          \
        RUN_TILE(name, right, out, map_of(x, ROWS));             \
        return out[0] == WORDS - 1 && out[37] == WORDS - 1 - 37; \
    }

BEGINS(early_tile)
ONE_TILE(early_tile, true, TILE, tile, true, right)
ENDS(early_tile)
RUNS(early_tile)

BEGINS(no_expect)
/* The phase is complete when the thread has arrived: nobody told it of bytes. */
ONE_TILE(no_expect, true, TILE, tile, right, true)
ENDS(no_expect)
RUNS(no_expect)

BEGINS(too_many_bytes)
ONE_TILE(too_many_bytes, true, right ? TILE : 2 * TILE, tile, true, true)
ENDS(too_many_bytes)
RUNS(too_many_bytes)

BEGINS(too_few_bytes)
ONE_TILE(too_few_bytes, true, right ? TILE : TILE / 2, tile, true, true)
ENDS(too_few_bytes)
RUNS(too_few_bytes)

BEGINS(barrier_not_fenced)
ONE_TILE(barrier_not_fenced, right, TILE, tile, true, true)
ENDS(barrier_not_fenced)
RUNS(barrier_not_fenced)

BEGINS(misaligned_tile)
ONE_TILE(misaligned_tile, true, TILE, right ? tile : tile + 16, true, true)
ENDS(misaligned_tile)
RUNS(misaligned_tile)

BEGINS(tile_outside)
/* Shared memory behind the tile is the launch's as far as 2 TILE + 128 bytes. */
ONE_TILE(tile_outside, true, TILE, right ? tile : tile + 2 * WORDS, true, true)
ENDS(tile_outside)
RUNS(tile_outside)

BEGINS(tile_never_waited)
template <bool right> static __global__ void tile_never_waited(float *out, const __grid_constant__ gr_tensor_map map)
{
    GR_DYN_SHARED(float, tile);
    GR_SHARED(uint64_t, full, [1]);
    set_up(full, true);
    if (threadIdx.x == 0) {
        gr_mbarrier_expect(full, TILE);
        gr_tma_load(tile, &map, 0, 0, full);
        if (right)
            gr_mbarrier_wait(full, 0);
    }
    out[threadIdx.x] = 1;
}
ENDS(tile_never_waited)

static bool run_tile_never_waited(bool right)
{
    gr__simt_set_order(right ? GR__SIMT_FORWARD : GR__SIMT_REVERSE, 1); /* nobody waits: at random it may have come */
    float *out = floats(WORDS), *x = floats(WORDS);
    RUN_TILE(tile_never_waited, right, out, map_of(x, ROWS));
    return out[63] == 1;
}

BEGINS(barrier_not_made)
template <bool right> static __global__ void barrier_not_made(float *out, const __grid_constant__ gr_tensor_map map)
{
    GR_DYN_SHARED(float, tile);
    GR_SHARED(uint64_t, full, [2]);
    set_up(full, true);
    if (threadIdx.x == 0) {
        gr_mbarrier_expect(full, TILE);
        gr_tma_load(tile, &map, 0, 0, full);
    }
    gr_mbarrier_wait(&full[right ? 0 : 1], 0);
    turn(out, tile);
}
ENDS(barrier_not_made)
RUNS(barrier_not_made)

BEGINS(one_arrival_more)
template <bool right> static __global__ void one_arrival_more(float *out, const __grid_constant__ gr_tensor_map map)
{
    GR_DYN_SHARED(float, tile);
    GR_SHARED(uint64_t, full, [1]);
    set_up(full, true);
    if (threadIdx.x < (right ? 1 : 2))
        gr_mbarrier_expect(full, TILE);
    if (threadIdx.x == 0)
        gr_tma_load(tile, &map, 0, 0, full);
    gr_mbarrier_wait(full, 0);
    turn(out, tile);
}
ENDS(one_arrival_more)
RUNS(one_arrival_more)

/* --- boxes of tensors --------------------------------------------------------------------------------------------- */

/* images x 4 x 4 rows of 64 halves, of h and w every other one: two images are 8 rows, a tile. */
static gr_tensor_map map_of_images(const float *x, int images)
{
    const int64_t size[4] = {images, 4, 4, COLUMNS};
    const int box[4] = {2, 2, 2, COLUMNS};
    return gr_tensor_map_4d(x, size, box, 2, 2);
}

/* out as of one tile, from image n on. */
#define ONE_BOX(name, bytes, n)                                                                              \
    template <bool right> static __global__ void name(float *out, const __grid_constant__ gr_tensor_map map) \
    {                                                                                                        \
        GR_DYN_SHARED(float, tile);                                                                          \
        GR_SHARED(uint64_t, full, [1]);                                                                      \
        set_up(full, true);                                                                                  \
        if (threadIdx.x == 0) {                                                                              \
            gr_mbarrier_expect(full, bytes);                                                                 \
            gr_tma_load_4d(tile, &map, n, 0, 0, 0, full);                                                    \
        }                                                                                                    \
        gr_mbarrier_wait(full, 0);                                                                           \
        turn(out, tile);                                                                                     \
    }

/* Two images of 512 words each; the last word brought is that of the second one's row (2, 2). */
enum { IMAGES = 2, IMAGE = 16 * 32 };

BEGINS(bytes_passed_over)
/* Only what is brought is counted, not what lies between. */
ONE_BOX(bytes_passed_over, right ? TILE : 4 * TILE, 0)
ENDS(bytes_passed_over)

static bool run_bytes_passed_over(bool right)
{
    float *out = floats(WORDS), *x = floats(IMAGES * IMAGE);
    RUN_TILE(bytes_passed_over, right, out, map_of_images(x, IMAGES));
    return out[0] == IMAGE + (4 * 2 + 2) * 32 + 31 && out[WORDS - 1 - 32] == 2 * 32;
}

BEGINS(map_of_a_matrix)
ONE_BOX(map_of_a_matrix, TILE, 0)
ENDS(map_of_a_matrix)

static bool run_map_of_a_matrix(bool right)
{
    float *out = floats(WORDS), *x = floats(IMAGES * IMAGE);
    RUN_TILE(map_of_a_matrix, right, out, right ? map_of_images(x, IMAGES) : map_of(x, ROWS));
    return out[0] == IMAGE + (4 * 2 + 2) * 32 + 31;
}

BEGINS(one_image_more)
/* What lies behind the last image comes as 0, if the map knows which is the last. */
ONE_BOX(one_image_more, TILE, 1)
ENDS(one_image_more)

static bool run_one_image_more(bool right)
{
    float *out = floats(WORDS), *x = floats((IMAGES + 1) * IMAGE);
    gr__simt_register(x, IMAGES * IMAGE * sizeof *x); /* anew: the third image is there, and none of the device's */
    RUN_TILE(one_image_more, right, out, map_of_images(x, right ? IMAGES : IMAGES + 1));
    return out[0] == 0 && out[WORDS - 1] == IMAGE;
}

/* --- stages: rows of tiles go through two of them, from thread 64 to the two warps before it ---------------------- */

enum { STEPS = 5, READERS = 64, RING = 2 };

BEGINS(pipeline)
/* out[thread] = the sum over tiles of one of its words. Slips: 1 stage refilled unasked, 2 parity, 3 lanes not met. */
template <int slip> static __global__ void pipeline(float *out, const __grid_constant__ gr_tensor_map map)
{
    GR_DYN_SHARED(float, tile);
    GR_SHARED(uint64_t, full, [RING]);
    GR_SHARED(uint64_t, empty, [RING]);
    if (threadIdx.x == 0)
        for (int i = 0; i < RING; i++) {
            gr_mbarrier_init(&full[i], 1);
            gr_mbarrier_init(&empty[i], READERS / 32);
        }
    gr_fence_async();
    __syncthreads();
    for (int step = 0; step < STEPS && threadIdx.x == READERS; step++) {
        if (slip != 1)
            gr_mbarrier_wait(&empty[step % RING], (step / RING + 1) % 2);
        gr_mbarrier_expect(&full[step % RING], TILE);
        gr_tma_load(tile + step % RING * WORDS, &map, step * ROWS, 0, &full[step % RING]);
    }
    float sum = 0;
    for (int step = 0; step < STEPS && threadIdx.x < READERS; step++) {
        gr_mbarrier_wait(&full[step % RING], slip == 2 ? 0 : step / RING % 2);
        sum += tile[step % RING * WORDS + place(threadIdx.x / 8, threadIdx.x % 8)];
        if (slip != 3)
            __syncwarp();
        if (threadIdx.x % 32 == 0)
            gr_mbarrier_arrive(&empty[step % RING]);
    }
    if (threadIdx.x < READERS)
        out[threadIdx.x] = sum;
}
ENDS(pipeline)

static bool run_pipeline(int slip)
{
    float *out = floats(READERS), *x = floats(STEPS * WORDS);
    const gr_tensor_map map = map_of(x, STEPS * ROWS);
    switch (slip) {
    case 0:
        GR_LAUNCH((pipeline<0>), 1, READERS + 32, RING * TILE, NULL, out, map);
        break;
    case 1:
        GR_LAUNCH((pipeline<1>), 1, READERS + 32, RING * TILE, NULL, out, map);
        break;
    case 2:
        GR_LAUNCH((pipeline<2>), 1, READERS + 32, RING * TILE, NULL, out, map);
        break;
    default:
        GR_LAUNCH((pipeline<3>), 1, READERS + 32, RING * TILE, NULL, out, map);
    }
    return out[9] == STEPS * 33 + WORDS * (STEPS * (STEPS - 1) / 2);
}
static bool run_unasked(bool right)
{
    return run_pipeline(right ? 0 : 1);
}
static bool run_parity(bool right)
{
    return run_pipeline(right ? 0 : 2);
}
static bool run_lanes_not_met(bool right)
{
    return run_pipeline(right ? 0 : 3);
}

/* --- what a barrier in memory orders, without a copy -------------------------------------------------------------- */

BEGINS(handed_over)
/* The first warp writes, the second waits for all its lanes, or for the first lane alone. */
template <bool right> static __global__ void handed_over(float *out)
{
    GR_SHARED(float, s, [32]);
    GR_SHARED(uint64_t, ready, [1]);
    if (threadIdx.x == 0)
        gr_mbarrier_init(ready, right ? 32 : 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] = threadIdx.x;
        if (right || threadIdx.x == 0)
            gr_mbarrier_arrive(ready);
    } else {
        gr_mbarrier_wait(ready, 0);
        out[threadIdx.x - 32] = s[63 - threadIdx.x];
    }
}
ENDS(handed_over)

static bool run_handed_over(bool right)
{
    float *out = floats(32);
    RUN(handed_over, right, 1, 64, out);
    return out[0] == 31;
}

BEGINS(one_lane_hands_over)
/* What one lane wrote and its arrival tell nothing of what others of its warp wrote since they met; and need not. */
template <bool right> static __global__ void one_lane_hands_over(float *out)
{
    GR_SHARED(float, s, [32]);
    GR_SHARED(uint64_t, ready, [1]);
    if (threadIdx.x == 0)
        gr_mbarrier_init(ready, 1);
    __syncthreads();
    if (threadIdx.x < 32)
        s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 5)
        gr_mbarrier_arrive(ready);
    if (threadIdx.x >= 32) {
        gr_mbarrier_wait(ready, 0);
        out[threadIdx.x - 32] = s[right ? 5 : 6];
    }
}
ENDS(one_lane_hands_over)

static bool run_one_lane_hands_over(bool right)
{
    float *out = floats(32);
    RUN(one_lane_hands_over, right, 1, 64, out);
    return out[0] == (right ? 5 : 6);
}

#define PLANT_OF(name, instance, seen, report)                                              \
    {                                                                                       \
#name, __FILE__, pipeline_begins, pipeline_ends, instance, run_##name, seen, report \
    }

const planted of_tiles[] = {
    PLANT(early_tile, IN_CHECK | BY_CHANCE | OR_REPORTED,
          ""), /* a read of what is on its way, or a race where it has come */
    PLANT(no_expect, IN_CHECK | BY_CHANCE | OR_REPORTED, ""),
    PLANT(too_many_bytes, EVERYWHERE, "deadlock: "),
    PLANT(too_few_bytes, EVERYWHERE, "deadlock: "),
    PLANT(barrier_not_fenced, EVERYWHERE, "missing fence: "),
    PLANT(misaligned_tile, EVERYWHERE, "misaligned: the TMA copy"),
    PLANT(tile_outside, IN_CHECK | BY_ASAN, "out of bounds: "),
    PLANT(tile_never_waited, EVERYWHERE, "missing wait: "),
    PLANT(barrier_not_made, EVERYWHERE, "mbarrier: a wait"),
    PLANT(one_arrival_more, EVERYWHERE, ""), /* once more than it counts; the next phase's, which is never complete */
    PLANT(bytes_passed_over, EVERYWHERE, "deadlock: "),
    PLANT(map_of_a_matrix, EVERYWHERE, "tensor map: the TMA copy"),
    PLANT(one_image_more, IN_CHECK, "out of bounds: "),
    PLANT_OF(unasked, "pipeline<1>", IN_CHECK | BY_CHANCE | OR_REPORTED, ""),
    PLANT_OF(parity, "pipeline<2>", IN_CHECK | BY_CHANCE | OR_REPORTED, ""),
    PLANT_OF(lanes_not_met, "pipeline<3>", IN_CHECK | OR_REPORTED, "race: "),
    PLANT(handed_over, IN_CHECK, ""),
    PLANT(one_lane_hands_over, IN_CHECK, ""),
    NO_MORE,
};
