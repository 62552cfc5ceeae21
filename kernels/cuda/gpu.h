/*
 * gpu.h - the one header of every .cu file: CUDA C as two compilers understand it.
 *
 *   nvcc         thin wrappers, one per instruction, around what CUDA C cannot say itself. All inline PTX of Gradus is
 *                here, and what Hopper adds in hopper.h.
 *   g++, clang++ the same names from kernels/simt/language.h, which run the kernel on a CPU.
 *
 * Rules for kernels:
 *   - Shared memory by GR_SHARED or GR_DYN_SHARED, launches by GR_LAUNCH (a template in parentheses).
 *   - No return before a barrier: guard the work, not the thread. No barrier and no full-mask shuffle in a divergent
 *     branch.
 *   - Lanes of a warp that share memory need __syncwarp or shuffles; nobody relies on lockstep.
 *   - No float atomics, no spinning (but gr_mbarrier_wait), no dependence between the blocks of a launch, but that the
 *     last one to come finds what all have left (arrival.cuh), and that those of a second leg wait for the first, whose
 *     blocks have all begun (relay.cuh): the same bits every time.
 *   - Offsets are int64_t; a grid's x goes to 2^31-1, y and z only to 65535.
 *   - float4 and uint4 only where the address is known to be a multiple of 16.
 */
#ifndef GRADUS_GPU_H
#define GRADUS_GPU_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__) && !defined(GRADUS_SIMT_LANGUAGE_H) /* gradus-simt calls itself nvcc */

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/* T name dims in shared memory, 16-byte aligned: GR_SHARED(float, tile, [8][32]); */
#define GR_SHARED(T, name, dims) __shared__ __align__(16) T name dims

/*
 * T *name, the launch's dynamic shared memory: at a multiple of 1024 where there is wgmma, whose patterns want it;
 * elsewhere of 16, because nvcc rounds the shared memory of all kernels of a file up to it.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define GR__PATTERN 1024
#else
#define GR__PATTERN 16
#endif
#define GR_DYN_SHARED(T, name)               \
    extern __shared__ __align__(GR__PATTERN) \
    unsigned char gr__dynamic_shared[];      \
    T *name = (T *)gr__dynamic_shared

#define GR_LAUNCH(kernel, grid, block, bytes, stream, ...) \
    (kernel)<<<(grid), (block), (bytes), (cudaStream_t)(stream)>>>(__VA_ARGS__)

/* Lets a kernel have more than 48 KiB of dynamic shared memory. */
#define GR_ALLOW_SHARED(kernel, bytes) \
    cudaFuncSetAttribute((const void *)(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, (bytes))

#define GR_DEVICE static __device__ __forceinline__

GR_DEVICE uint32_t gr_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/*
 * 16 bytes from global to shared memory, both addresses multiples of 16: the first bytes (0 to 16) copied, the rest
 * zero. Complete after a gr_cp_async_wait; then a barrier, for the other threads. Before sm_80 a plain copy.
 */
GR_DEVICE void gr_cp_async16(void *shared, const void *global, int bytes)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(gr_shared_address(shared)), "l"(global),
                 "r"(bytes)
                 : "memory");
#else
    uint4 v = make_uint4(0, 0, 0, 0);
    if (bytes == 16)
        v = *(const uint4 *)global;
    else
        memcpy(&v, global, bytes);
    *(uint4 *)shared = v;
#endif
}

/* The same for 4 bytes: copied, or zero where bytes is 0. */
GR_DEVICE void gr_cp_async4(void *shared, const void *global, int bytes)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(gr_shared_address(shared)), "l"(global),
                 "r"(bytes)
                 : "memory");
#else
    *(uint32_t *)shared = bytes ? *(const uint32_t *)global : 0;
#endif
}

/* Closes the group of this thread's copies since the last commit. */
GR_DEVICE void gr_cp_async_commit(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most PENDING of this thread's youngest groups are under way. */
template <int PENDING> GR_DEVICE void gr_cp_async_wait(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

/*
 * Four 8x8 matrices of 16-bit elements: lane 8 i + j gives the address (a multiple of 16) of row j of matrix i; r[i] of
 * lane l receives elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of matrix i. The second form transposes each
 * matrix.
 */
GR_DEVICE void gr_ldmatrix_x4(uint32_t r[4], const void *shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(gr_shared_address(shared))
                 : "memory");
}
GR_DEVICE void gr_ldmatrix_x4_trans(uint32_t r[4], const void *shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(gr_shared_address(shared))
                 : "memory");
}

/*
 * d[16x8] += a[16x16] b[16x8] with fp16 factors and float sums, by one warp. Lane l, g = l / 4, t = l % 4, holds
 *   a[0], a[2]: row g, columns 2t, 2t+1 and +8;  a[1], a[3]: row g + 8;   b[0], b[1]: column g, rows 2t, 2t+1 and +8;
 *   d[0], d[1]: row g, columns 2t, 2t+1;  d[2], d[3]: row g + 8.    (PTX ISA 9.7.14, mma.m16n8k16)
 * sm_75 has m16n8k8 only and does it in two.
 */
GR_DEVICE void gr_mma_f16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int half = 0; half < 2; half++)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* The same with bf16 factors. */
GR_DEVICE void gr_mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/*
 * d[16x8] += a[16x8] b[8x8] with tf32 factors: a[0], a[2] row g, columns t and t + 4; b[0], b[1] column g, rows t and t
 * + 4.
 */
GR_DEVICE void gr_mma_tf32(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* v as a factor of gr_mma_tf32: 8 bits of exponent, 10 of fraction; to the nearest, ties away from 0. NaN stays NaN. */
GR_DEVICE uint32_t gr_tf32_bits(float v)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
    return bits;
}
#else
/* sm_75 has no such instructions; the device cuda refuses the precisions bf16 and tf32 there. */
GR_DEVICE void gr_mma_bf16(float *, const uint32_t *, const uint32_t *)
{
    __trap();
}
GR_DEVICE void gr_mma_tf32(float *, const uint32_t *, const uint32_t *)
{
    __trap();
}
GR_DEVICE uint32_t gr_tf32_bits(float)
{
    return 0;
}
#endif

/* A barrier of its own, 1 to 15, for threads (a multiple of 32) of the block. */
GR_DEVICE void gr_named_barrier(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* f16 and bf16 as their bits: rounded to the nearest, ties to even. */
GR_DEVICE uint16_t gr_f16_bits(float v)
{
    return __half_as_ushort(__float2half_rn(v));
}
GR_DEVICE uint16_t gr_bf16_bits(float v)
{
    return __bfloat16_as_ushort(__float2bfloat16_rn(v));
}
GR_DEVICE float gr_f16_float(uint16_t bits)
{
    return __half2float(__ushort_as_half(bits));
}
GR_DEVICE float gr_bf16_float(uint16_t bits)
{
    return __bfloat162float(__ushort_as_bfloat16(bits));
}

/* The host waits until the stream has done everything. */
#define GR_WAIT(stream) cudaStreamSynchronize((cudaStream_t)(stream))

#else

#include "kernels/simt/language.h"
#define GR_DEVICE static __device__ inline
#define GR_WAIT(stream) ((void)(stream))

#include "core/half.h"

GR_DEVICE uint16_t gr_f16_bits(float v)
{
    return gr__f16_of(v);
}
GR_DEVICE uint16_t gr_bf16_bits(float v)
{
    return gr__bf16_of(v);
}
GR_DEVICE float gr_f16_float(uint16_t bits)
{
    return (float)gr__f16_value(bits);
}
GR_DEVICE float gr_bf16_float(uint16_t bits)
{
    return (float)gr__bf16_value(bits);
}
/* Half of the last bit that stays is added to the magnitude; the carry may run into the exponent, up to infinity. */
GR_DEVICE uint32_t gr_tf32_bits(float v)
{
    return isnan(v) ? 0x7FFFE000 : (__float_as_uint(v) + 0x1000) & 0xFFFFE000;
}
#endif

extern "C" {
#include "kernels/cuda/hooks.h"
}

#endif
