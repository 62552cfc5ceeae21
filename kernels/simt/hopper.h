/*
 * hopper.h - what compute capability 9.0 adds: the emulator's entry points, and over them the twins of the wrappers in
 * kernels/cuda/hopper.h, which says what each does.
 */
#ifndef GRADUS_SIMT_HOPPER_H
#define GRADUS_SIMT_HOPPER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A dense tensor [n][h][w][c] of 16-bit elements as TMA sees it; swizzled within 128 bytes. A matrix is the tensor
 * [1][1][rows][columns], of rank 2. magic: gr__simt_tensor_map has seen it.
 */
typedef struct {
    const char *tensor;
    int64_t size[4];
    int box[4], every[4]; /* a copy brings so many elements, one of every so many */
    int rank;             /* of the copies that may take it: 2 or 4 */
    uint32_t magic;
} gr_tensor_map;
gr_tensor_map gr__simt_tensor_map(gr_tensor_map map, const char *file, int line);

/* mbarrier.c; bytes -1: arrives without telling of any; returns the parity of the phase that it belongs to. */
void gr__simt_mbarrier_init(void *barrier, int arrivals, const char *file, int line);
int gr__simt_mbarrier_arrive(void *barrier, int bytes, const char *file, int line);
void gr__simt_mbarrier_wait(void *barrier, int parity, const char *file, int line);
void gr__simt_fence_async(void);

/* tma.c */
void gr__simt_tma_load(void *shared, const gr_tensor_map *map, int rank, const int start[4], void *barrier,
                       const char *file, int line);

/* wgmma.c: what a lane brings to the collectives of its warp. */
typedef struct {
    float *d;
    uint64_t a, b;
    int major_a, major_b; /* 0: K-major */
    int columns;          /* of the product: twice as many as a lane has sums */
    bool bf16;            /* of its factors, else fp16 */
    int pending;
} gr__simt_wgmma;
uint32_t gr__simt_shared_address(const void *p); /* as a GPU counts; 0 outside of shared memory */

#ifdef __cplusplus
}

#define GR_HAS_WGMMA 1

static inline gr_tensor_map gr_tensor_map_of(const void *matrix, int64_t rows, int64_t columns, int box_rows,
                                             int box_columns, GR__HERE)
{
    return gr__simt_tensor_map(
        {(const char *)matrix, {1, 1, rows, columns}, {1, 1, box_rows, box_columns}, {1, 1, 1, 1}, 2, 0}, file, line);
}
static inline gr_tensor_map gr_tensor_map_4d(const void *tensor, const int64_t size[4], const int box[4], int every_h,
                                             int every_w, GR__HERE)
{
    return gr__simt_tensor_map({(const char *)tensor,
                                {size[0], size[1], size[2], size[3]},
                                {box[0], box[1], box[2], box[3]},
                                {1, every_h, every_w, 1},
                                4,
                                0},
                               file, line);
}

static __device__ inline void gr_mbarrier_init(uint64_t *barrier, int arrivals, GR__HERE)
{
    gr__simt_mbarrier_init(barrier, arrivals, file, line);
}
static __device__ inline void gr_mbarrier_arrive(uint64_t *barrier, GR__HERE)
{
    gr__simt_mbarrier_arrive(barrier, -1, file, line);
}
static __device__ inline void gr_mbarrier_expect(uint64_t *barrier, int bytes, GR__HERE)
{
    gr__simt_mbarrier_arrive(barrier, bytes, file, line);
}
static __device__ inline void gr_mbarrier_wait(uint64_t *barrier, int parity, GR__HERE)
{
    gr__simt_mbarrier_wait(barrier, parity, file, line);
}
static __device__ inline void gr_fence_async(void)
{
    gr__simt_fence_async();
}
static __device__ inline void gr_tma_load(void *shared, const gr_tensor_map *map, int row, int column,
                                          uint64_t *barrier, GR__HERE)
{
    const int start[4] = {0, 0, row, column};
    gr__simt_tma_load(shared, map, 2, start, barrier, file, line);
}
static __device__ inline void gr_tma_load_4d(void *shared, const gr_tensor_map *map, int n, int h, int w, int c,
                                             uint64_t *barrier, GR__HERE)
{
    const int start[4] = {n, h, w, c};
    gr__simt_tma_load(shared, map, 4, start, barrier, file, line);
}

static __device__ inline uint64_t gr_wgmma_operand(const void *shared, int leading, int stride, int swizzle)
{
    return (gr__simt_shared_address(shared) & 0x3FFFF) >> 4 | (uint64_t)(leading >> 4) << 16 |
           (uint64_t)(stride >> 4) << 32 | (uint64_t)swizzle << 62;
}

template <int N> static __device__ inline void gr_wgmma_fence(float *d, GR__HERE)
{
    gr__simt_wgmma lane = {d, 0, 0, 0, 0, N, false, 0};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_WGMMA_FENCE, &lane, file, line);
}
template <int N> static __device__ inline void gr_wgmma_again(float *d, GR__HERE)
{
    gr_wgmma_fence<N>(d, file, line);
}
template <int N, int MAJOR_A, int MAJOR_B>
static __device__ inline void gr_wgmma_f16(float *d, uint64_t a, uint64_t b, GR__HERE)
{
    gr__simt_wgmma lane = {d, a, b, MAJOR_A, MAJOR_B, N, false, 0};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_WGMMA, &lane, file, line);
}
template <int N, int MAJOR_A, int MAJOR_B>
static __device__ inline void gr_wgmma_bf16(float *d, uint64_t a, uint64_t b, GR__HERE)
{
    gr__simt_wgmma lane = {d, a, b, MAJOR_A, MAJOR_B, N, true, 0};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_WGMMA, &lane, file, line);
}
static __device__ inline void gr_wgmma_commit(GR__HERE)
{
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_WGMMA_COMMIT, NULL, file, line);
}
template <int PENDING, int N> static __device__ inline void gr_wgmma_wait(float *d, GR__HERE)
{
    gr__simt_wgmma lane = {d, 0, 0, 0, 0, N, false, PENDING};
    gr__simt_warp(0xFFFFFFFF, GR__SIMT_WGMMA_WAIT, &lane, file, line);
}
#endif

#endif
