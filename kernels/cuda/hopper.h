/*
 * hopper.h - what compute capability 9.0 adds, beside gpu.h: barriers in memory (mbarrier), copies of whole tiles (TMA)
 * and products that four warps make from shared memory (wgmma). Thin wrappers for nvcc; the same names for a C++
 * compiler are in kernels/simt/hopper.h.
 *
 * Where they are: mbarrier and TMA from 9.0 on, wgmma in code for sm_90a alone (later GPUs have other instructions).
 * In code for another GPU the wrappers trap: who launches such a kernel looks at the GPU first (devices/ladder.c). The
 * manual is the PTX ISA; sections by number are those of wgmma since it also has tcgen05.
 */
#ifndef GRADUS_HOPPER_H
#define GRADUS_HOPPER_H

#include "kernels/cuda/gpu.h"

/* Where the neighbours of an operand in shared memory lie: along the depth, or along the rows of a, columns of b. */
enum { GR_K_MAJOR = 0, GR_MN_MAJOR = 1 };

/* Swizzling, as a descriptor says it (9.7.15.5.1.2): pieces of 16 bytes change places within so many bytes. */
enum { GR_STRAIGHT = 0, GR_SWIZZLE_128 = 1, GR_SWIZZLE_64 = 2, GR_SWIZZLE_32 = 3 };

#if defined(__CUDACC__) && !defined(GRADUS_SIMT_LANGUAGE_H)

#include <cuda.h>

#if CUDART_VERSION < 12000
#error "hopper.h wants CUDA 12: before it there are no tensor maps"
#endif

/* A tensor in global memory as TMA sees it; a kernel takes it as const __grid_constant__ gr_tensor_map. */
typedef CUtensorMap gr_tensor_map;

/* The driver's function that makes maps; NULL: it has none. */
typedef CUresult gr__encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                            const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static inline gr__encode *gr__find_encode(void)
{
    void *found = NULL;
    cudaDriverEntryPointQueryResult how;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &how);
#endif
    return error == cudaSuccess && how == cudaDriverEntryPointSuccess ? (gr__encode *)found : NULL;
}

/*
 * The map of a dense tensor of 16-bit elements, dimensions from the innermost one on; box: as far as a copy reaches, of
 * which it takes every every-th. Where the driver cannot make it, the map is all zeros, and the copy that takes it is a
 * fault of the device.
 */
static inline gr_tensor_map gr__tensor_map(const void *tensor, int rank, const cuuint64_t *size, const cuuint32_t *box,
                                           const cuuint32_t *every)
{
    static gr__encode *const encode = gr__find_encode(); /* asked for once: maps are made for every launch */
    gr_tensor_map map = {};
    cuuint64_t pitch[4] = {2 * size[0]}; /* bytes from one to the next, from the second dimension on */
    for (int i = 1; i < rank - 1; i++)
        pitch[i] = pitch[i - 1] * size[i];
    if (encode)
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, (cuuint32_t)rank, (void *)tensor, size, pitch, box, every,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

/*
 * The map of a matrix of 16-bit elements, [rows][columns] row-major at a multiple of 16 bytes, as are its rows; a copy
 * brings box_rows (at most 256) x box_columns (at most 64: 128 bytes), swizzled within 128 bytes.
 */
static inline gr_tensor_map gr_tensor_map_of(const void *matrix, int64_t rows, int64_t columns, int box_rows,
                                             int box_columns)
{
    const cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint32_t box[2] = {(cuuint32_t)box_columns, (cuuint32_t)box_rows}, every[2] = {1, 1};
    return gr__tensor_map(matrix, 2, size, box, every);
}

/*
 * The map of a dense tensor [n][h][w][c] of 16-bit elements, at a multiple of 16 bytes, c a multiple of 8; a copy
 * brings box[0] x box[1] x box[2] x box[3] elements, of h every every_h-th, of w every every_w-th (1 to 8). box[3] is
 * at most 64 (128 bytes), box[0], box[1] * every_h and box[2] * every_w at most 256; swizzled as gr_tensor_map_of's.
 */
static inline gr_tensor_map gr_tensor_map_4d(const void *tensor, const int64_t size[4], const int box[4], int every_h,
                                             int every_w)
{
    const cuuint64_t inner_first[4] = {(cuuint64_t)size[3], (cuuint64_t)size[2], (cuuint64_t)size[1],
                                       (cuuint64_t)size[0]};
    const cuuint32_t reach[4] = {(cuuint32_t)box[3], (cuuint32_t)(box[2] * every_w), (cuuint32_t)(box[1] * every_h),
                                 (cuuint32_t)box[0]};
    const cuuint32_t every[4] = {1, (cuuint32_t)every_w, (cuuint32_t)every_h, 1};
    return gr__tensor_map(tensor, 4, inner_first, reach, every);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define GR__FROM_90(...) __VA_ARGS__
#else
#define GR__FROM_90(...) __trap()
#endif

/*
 * A barrier in shared memory (section "mbarrier"), 8 bytes. It counts phases: one is complete when so many threads have
 * arrived and all bytes that were told of have come; then the next begins. By one thread; the others may use it behind
 * a gr_fence_async of this one and a __syncthreads.
 */
GR_DEVICE void gr_mbarrier_init(uint64_t *barrier, int arrivals)
{
    GR__FROM_90(asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gr_shared_address(barrier)), "r"(arrivals)
                             : "memory"));
}

/* Arrives: what this thread did before is seen by those who wait for the phase. */
GR_DEVICE void gr_mbarrier_arrive(uint64_t *barrier)
{
    GR__FROM_90(asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(gr_shared_address(barrier)) : "memory"));
}

/* Tells of so many bytes that copies bring in this phase, and arrives. */
GR_DEVICE void gr_mbarrier_expect(uint64_t *barrier, int bytes)
{
    GR__FROM_90(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(gr_shared_address(barrier)),
                             "r"(bytes)
                             : "memory"));
}

/* Waits until the last phase of this parity is complete: phases are 0, 1, 0, ..., and one before the first is 1. */
GR_DEVICE void gr_mbarrier_wait(uint64_t *barrier, int parity)
{
    GR__FROM_90(uint32_t done = 0;
                while (!done) asm volatile("{ .reg .pred complete;\n"
                                           "  mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
                                           "  selp.b32 %0, 1, 0, complete; }"
                                           : "=r"(done)
                                           : "r"(gr_shared_address(barrier)), "r"(parity)
                                           : "memory"));
}

/*
 * Copies and products of this header go to shared memory on a way of their own, the async proxy (9.7.15.4): behind
 * this fence they see what this thread wrote, or knows of from others, initialised barriers too.
 */
GR_DEVICE void gr_fence_async(void)
{
    GR__FROM_90(asm volatile("fence.proxy.async.shared::cta;" ::: "memory"));
}

/*
 * Sends a tile of the map's box on its way, from (row, column) of the matrix, by one thread (section
 * "cp.async.bulk.tensor"): to shared memory, a multiple of 128 bytes. What lies outside of the matrix comes as 0. All
 * bytes of the box are counted by the barrier when they are there.
 */
GR_DEVICE void gr_tma_load(void *shared, const gr_tensor_map *map, int row, int column, uint64_t *barrier)
{
    GR__FROM_90(asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                             " [%0], [%1, {%2, %3}], [%4];" ::"r"(gr_shared_address(shared)),
                             "l"(map), "r"(column), "r"(row), "r"(gr_shared_address(barrier))
                             : "memory"));
}

/*
 * The same of a map that gr_tensor_map_4d made, from (n, h, w, c), which may be negative or beyond: what lies outside
 * comes as 0. The box lies in shared memory as [n][h][w][c], each row of box[3] elements swizzled.
 */
GR_DEVICE void gr_tma_load_4d(void *shared, const gr_tensor_map *map, int n, int h, int w, int c, uint64_t *barrier)
{
    GR__FROM_90(asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                             " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(gr_shared_address(shared)),
                             "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(gr_shared_address(barrier))
                             : "memory"));
}
#undef GR__FROM_90

/*
 * An operand in shared memory (9.7.15.5.1.2), made of atoms of 8 rows of 128, 64, 32 or (straight) 16 bytes. stride:
 * bytes from 8 rows to the next 8 - of a or columns of b if K-major, of depth if MN-major. leading: bytes from one atom
 * to the one beside it; if K-major and swizzled there is none beside it. Straight and MN-major the two change roles.
 *
 * The whole address is swizzled, here as in TMA's copies: patterns within 128 bytes lie at multiples of 1024 bytes of
 * shared memory. An operand may begin in the midst of one, at any row, and the stride be any number of rows (both seen
 * on an H200): so one box of pixels with its halo holds the operands of all taps of a convolution.
 */
GR_DEVICE uint64_t gr_wgmma_operand(const void *shared, int leading, int stride, int swizzle)
{
    return (gr_shared_address(shared) & 0x3FFFF) >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)swizzle << 62;
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GR_HAS_WGMMA 1
#define GR__AT_90A(...) __VA_ARGS__
#else
#define GR_HAS_WGMMA 0
#define GR__AT_90A(...) __trap()
#endif

/* The compiler must not move what it does to the sums over the instructions around their asynchronous use. */
#define GR__HOLD(d, N)                \
    for (int i = 0; i < (N) / 2; i++) \
    asm volatile("" : "+f"(d[i])::"memory")

/* Before the first product, and between anything else that is done to the sums and the next one (9.7.15.7.1). */
template <int N> GR_DEVICE void gr_wgmma_fence(float *d)
{
    GR__HOLD(d, N);
    GR__AT_90A(asm volatile("wgmma.fence.sync.aligned;" ::: "memory"));
}

/* Between products of which nobody touches the sums: those before may be under way. */
template <int N> GR_DEVICE void gr_wgmma_again(float *)
{
    GR__AT_90A(asm volatile("wgmma.fence.sync.aligned;" ::: "memory"));
}

#define GR__D8(d, i)                                                                                            \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])
#define GR__D32(d, i) GR__D8(d, i), GR__D8(d, i + 8), GR__D8(d, i + 16), GR__D8(d, i + 24)
#define GR__WGMMA_64(type)                                                                                     \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                                                \
    " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
    "%28,%29,%30,%31}, %32, %33, 1, 1, 1, %34, %35;"
#define GR__WGMMA_128(type)                                                                                    \
    "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                                               \
    " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
    "%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53," \
    "%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, %66, %67;"

/*
 * d[64xN] += a[64x16] b[16xN] of fp16 or bf16 factors and float sums, N 64 or 128, by four warps whose first is a
 * multiple of 4 (9.7.15.5.2). Asynchronous: the operands are read, and the sums are nobody's, until a gr_wgmma_wait.
 * Lane l of warp w holds in d[4 j + 2 h + i] row 16 w + l / 4 + 8 h, column 8 j + l % 4 * 2 + i.
 */
#define GR__WGMMA(name, type)                                                                                          \
    template <int N, int MAJOR_A, int MAJOR_B> GR_DEVICE void gr_wgmma_##name(float *d, uint64_t a, uint64_t b)        \
    {                                                                                                                  \
        static_assert(N == 64 || N == 128, "columns of a product");                                                    \
        if constexpr (N == 64) {                                                                                       \
            GR__AT_90A(asm volatile(GR__WGMMA_64(type) : GR__D32(d, 0) : "l"(a), "l"(b), "n"(MAJOR_A), "n"(MAJOR_B))); \
        } else {                                                                                                       \
            GR__AT_90A(asm volatile(GR__WGMMA_128(type)                                                                \
                                    : GR__D32(d, 0), GR__D32(d, 32)                                                    \
                                    : "l"(a), "l"(b), "n"(MAJOR_A), "n"(MAJOR_B)));                                    \
        }                                                                                                              \
    }
GR__WGMMA(f16, "f16")
GR__WGMMA(bf16, "bf16")
#undef GR__WGMMA
#undef GR__WGMMA_128
#undef GR__WGMMA_64
#undef GR__D32
#undef GR__D8

/* Closes the group of this warp's products since the last commit. */
GR_DEVICE void gr_wgmma_commit(void)
{
    GR__AT_90A(asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"));
}

/*
 * Waits until at most PENDING of this warp's youngest groups are under way; the others' operands are free. The sums d
 * are one's own again where none is.
 */
template <int PENDING, int N> GR_DEVICE void gr_wgmma_wait(float *d)
{
    GR__AT_90A(asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory"));
    if (PENDING == 0)
        GR__HOLD(d, N);
}
#undef GR__HOLD
#undef GR__AT_90A

#else
#include "kernels/simt/hopper.h"
#endif

/* An operand of wgmma so many bytes further on, a multiple of 16: one addition; to make another takes ten. */
GR_DEVICE uint64_t gr_wgmma_further(uint64_t operand, int bytes)
{
    return (operand & ~(uint64_t)0xFFFFFFFF) | ((uint32_t)operand + (uint32_t)(bytes >> 4));
}

#endif
