/*
 * cpu.h - what the tuned kernels share: names per instruction set, how work is cut, and packing.
 *
 * Every file of this folder is compiled once for each instruction set with GR_ISA=plain, avx2 or avx512. How work is
 * cut into chunks, and in which order partial sums are added, depends on shapes and instruction set alone.
 */
#ifndef GRADUS_CPU_H
#define GRADUS_CPU_H

#include "core/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/ops/hooks.h"

#define GR_CPU_JOIN(isa, name) gr__cpu_##isa##_##name
#define GR_CPU_EXPAND(isa, name) GR_CPU_JOIN(isa, name)
#define GR_CPU(name) GR_CPU_EXPAND(GR_ISA, name) /* GR_CPU(relu_forward): gr__cpu_avx512_relu_forward */

/* What this folder defines. */
#define GR_HOOK(name, hook) GR_DECLARE_##hook(GR_CPU(name##_##hook))
#define GR_ROUNDS(name, slot)
#include "kernels/cpu/hooks.def"
#undef GR_HOOK
#undef GR_ROUNDS

/* Columns of a packed panel and of the register tile. */
enum { PANEL = 2 * VL };

INLINE int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

INLINE int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

INLINE int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* a / b rounded down, for a below 0 too. */
INLINE int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

INLINE int64_t round_up(int64_t a, int64_t step)
{
    return ceil_div(a, step) * step;
}

/* Part i of n of a range of count things: [begin, end). */
typedef struct {
    int64_t begin, end;
} span;

INLINE span part_of(int64_t count, int64_t i, int64_t n)
{
    return (span){count * i / n, count * (i + 1) / n};
}

/* Whether vectors are whole cache lines of a result whose rows are pitch floats apart, as vec_stream wants them. */
INLINE bool is_lines(const void *result, int64_t pitch)
{
    return VL * sizeof(float) == 64 && pitch % VL == 0 && (uintptr_t)result % 64 == 0;
}

/*
 * A result of so many floats is no longer in a near cache when it is read. Written line by line past the caches
 * (vec_stream) it costs half of the traffic: no line is read first.
 */
enum { PAST_CACHES = 4 << 20 };

INLINE bool goes_past_caches(const void *result, int64_t floats, int64_t pitch)
{
    return floats >= PAST_CACHES && is_lines(result, pitch);
}

/*
 * Scratch is laid out by one function per kernel, run twice: with base NULL for its size, then for the addresses.
 * Pieces start at multiples of a cache line.
 */
typedef struct {
    char *base;
    size_t used;
} scratch;

INLINE float *scratch_take(scratch *s, int64_t floats)
{
    float *p = s->base ? (float *)(s->base + s->used) : NULL;
    s->used += (size_t)round_up(floats, 16) * sizeof(float);
    return p;
}

/* dst[j][i] = src[i][j] for i < rows, j < cols; pitches in floats. */
void GR_CPU(transpose)(const float *src, int64_t src_pitch, int64_t rows, int64_t cols, float *dst, int64_t dst_pitch);
#define transpose GR_CPU(transpose)

/* The same past the caches, where is_lines(dst, dst_pitch). */
void GR_CPU(transpose_past_caches)(const float *src, int64_t src_pitch, int64_t rows, int64_t cols, float *dst,
                                   int64_t dst_pitch);
#define transpose_past_caches GR_CPU(transpose_past_caches)

/* dst[i][0..width) = src[i][0..width), zeros up to PANEL; dst has pitch PANEL. */
INLINE void pack_panel(const float *src, int64_t src_pitch, int64_t rows, int64_t width, float *dst)
{
    for (int64_t i = 0; i < rows; i++) {
        UNROLL
        for (int64_t j = 0; j < PANEL; j += VL)
            vec_store(dst + i * PANEL + j, vec_load_n(src + i * src_pitch + j, max64(0, min64(VL, width - j))));
    }
}

/* dst[0..count) = src[0..count), by vectors. */
INLINE void copy_floats(const float *src, int64_t count, float *dst)
{
    const int64_t whole = count / VL * VL;
    for (int64_t i = 0; i < whole; i += VL)
        vec_store(dst + i, vec_load(src + i));
    if (whole < count)
        vec_store_n(dst + whole, vec_load_n(src + whole, count - whole), count - whole);
}

#endif
