/*
 * builtins.h - functions that CUDA C has beside those of language.h: conversions, bits, rounding, fast mathematics,
 * votes of a block, matches of a warp.
 */
#ifndef GRADUS_CUDA_BUILTINS_H
#define GRADUS_CUDA_BUILTINS_H

#include "kernels/simt/language.h"

static const int warpSize = 32;

/* --- mixed arguments ---------------------------------------------------------------------------------------------- */

#define GR__MIXED(A, B, R)                                              \
    static inline R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
    static inline R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
GR__MIXED(int, unsigned, unsigned)
GR__MIXED(unsigned, int, unsigned)
GR__MIXED(float, double, double)
GR__MIXED(double, float, double)
GR__MIXED(int, float, float)
GR__MIXED(float, int, float)
GR__MIXED(int, double, double)
GR__MIXED(double, int, double)
GR__MIXED(long, int, long)
GR__MIXED(int, long, long)
GR__MIXED(unsigned long, unsigned, unsigned long)
GR__MIXED(unsigned, unsigned long, unsigned long)
GR__MIXED(unsigned long, int, unsigned long)
GR__MIXED(int, unsigned long, unsigned long)
GR__MIXED(unsigned long long, unsigned long long, unsigned long long)
#undef GR__MIXED

/* --- fast mathematics: here as exact as the other ----------------------------------------------------------------- */

#define __sinf sinf /* glibc declares functions of these names */
#define __cosf cosf
#define __tanf tanf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __exp10f exp10f
#define __fmaf_rn fmaf
#define __sincosf sincosf
#define rsqrt gr__rsqrt /* of these names from 2.42, of the next from 2.41 on */
#define sinpif gr__sinpif
#define cospif gr__cospif
#define sinpi gr__sinpi
#define cospi gr__cospi
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rcbrtf(float x) { return 1 / cbrtf(x); }
static inline float sinpif(float x) { return (float)sin(M_PI * x); }
static inline float cospif(float x) { return (float)cos(M_PI * x); }
static inline double sinpi(double x) { return sin(M_PI * x); }
static inline double cospi(double x) { return cos(M_PI * x); }
static inline float normcdff(float x) { return (float)(0.5 * erfc(-x * M_SQRT1_2)); }
static inline float fdividef(float a, float b) { return a / b; }

/* Lengths, and 1 over them: no square is too large on the way, and what is infinite outweighs a NaN. */
template <class T> static inline double gr__norm(int n, const T *p)
{
    double length = 0;
    for (int i = 0; i < n; i++)
        length = hypot(length, p[i]);
    return length;
}
static inline double gr__norm(double a, double b, double c, double d = 0) { return hypot(hypot(a, b), hypot(c, d)); }
#define GR__NORMS(T, f)                                                                      \
    static inline T norm##f(int n, const T *p) { return (T)gr__norm(n, p); }                 \
    static inline T norm3d##f(T a, T b, T c) { return (T)gr__norm(a, b, c); }                \
    static inline T norm4d##f(T a, T b, T c, T d) { return (T)gr__norm(a, b, c, d); }        \
    static inline T rnorm##f(int n, const T *p) { return (T)(1 / gr__norm(n, p)); }          \
    static inline T rnorm3d##f(T a, T b, T c) { return (T)(1 / gr__norm(a, b, c)); }         \
    static inline T rnorm4d##f(T a, T b, T c, T d) { return (T)(1 / gr__norm(a, b, c, d)); } \
    static inline T rhypot##f(T a, T b) { return (T)(1 / hypot((double)a, (double)b)); }
GR__NORMS(double, )
GR__NORMS(float, f)
#undef GR__NORMS

#define GR__ROUNDED(name, T, expression) \
    static inline T name(T a, T b) { return expression; }
GR__ROUNDED(__fadd_rn, float, a + b)
GR__ROUNDED(__fsub_rn, float, a - b)
GR__ROUNDED(__fmul_rn, float, a *b)
GR__ROUNDED(__fdiv_rn, float, a / b)
GR__ROUNDED(__dadd_rn, double, a + b)
GR__ROUNDED(__dmul_rn, double, a *b)
GR__ROUNDED(__ddiv_rn, double, a / b)
#undef GR__ROUNDED
static inline float __frcp_rn(float a) { return 1 / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __frsqrt_rn(float a) { return 1 / sqrtf(a); }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

/* --- conversions -------------------------------------------------------------------------------------------------- */

#define GR__CONVERT(name, From, To, expression) \
    static inline To name(From v) { return (To)(expression); }
#define GR__CONVERT_FLOAT(To, kind)                                                                              \
    GR__CONVERT(__float2##kind##_rn, float, To, rintf(v))                                                        \
    GR__CONVERT(__float2##kind##_rz, float, To, v)                                                               \
    GR__CONVERT(__float2##kind##_rd, float, To, floorf(v)) GR__CONVERT(__float2##kind##_ru, float, To, ceilf(v)) \
        GR__CONVERT(__double2##kind##_rn, double, To, rint(v)) GR__CONVERT(__double2##kind##_rz, double, To, v)  \
            GR__CONVERT(__double2##kind##_rd, double, To, floor(v))                                              \
                GR__CONVERT(__double2##kind##_ru, double, To, ceil(v))
GR__CONVERT_FLOAT(int, int)
GR__CONVERT_FLOAT(unsigned, uint)
GR__CONVERT_FLOAT(long long, ll)
GR__CONVERT_FLOAT(unsigned long long, ull)
GR__CONVERT(__int2float_rn, int, float, v)
GR__CONVERT(__int2float_rz, int, float, v)
GR__CONVERT(__uint2float_rn, unsigned, float, v)
GR__CONVERT(__ll2float_rn, long long, float, v)
GR__CONVERT(__ull2float_rn, unsigned long long, float, v)
GR__CONVERT(__int2double_rn, int, double, v)
GR__CONVERT(__uint2double_rn, unsigned, double, v)
GR__CONVERT(__ll2double_rn, long long, double, v)
GR__CONVERT(__double2float_rn, double, float, v)
#undef GR__CONVERT
#undef GR__CONVERT_FLOAT

template <class To, class From> static inline To gr__same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline long long __double_as_longlong(double v) { return gr__same_bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return gr__same_bits<double>(v); }
static inline int __double2hiint(double v) { return (int)(gr__same_bits<uint64_t>(v) >> 32); }
static inline int __double2loint(double v) { return (int)gr__same_bits<uint64_t>(v); }
static inline double __hiloint2double(int high, int low)
{
    return gr__same_bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}

/* --- whole numbers and bits --------------------------------------------------------------------------------------- */

static inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}
static inline unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)(a > b ? a - b : b - a); }
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((uint64_t)high << 32 | low) << (by & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t all = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++)
        r |= (unsigned)(all >> 8 * (selector >> 4 * i & 7) & 0xFF) << 8 * i;
    return r;
}

/* c and the products of the numbers of type A in a with those of type B in b, as many as a has. */
template <class A, class B> static inline unsigned gr__dot(unsigned a, unsigned b, unsigned c)
{
    for (unsigned i = 0; i < 4 / sizeof(A); i++)
        c += (unsigned)((A)(a >> 8 * sizeof(A) * i) * (B)(b >> 8 * sizeof(B) * i));
    return c;
}
#define GR__DOT(name, A, B, C, VectorA, VectorB, shift)                                          \
    static inline C name(C a, C b, C c) { return (C)gr__dot<A, B>(a, (unsigned)b >> shift, c); } \
    static inline C name(VectorA a, VectorB b, C c) { return name(gr__same_bits<C>(a), gr__same_bits<C>(b), c); }
GR__DOT(__dp4a, int8_t, int8_t, int, char4, char4, 0)
GR__DOT(__dp4a, uint8_t, uint8_t, unsigned, uchar4, uchar4, 0)
GR__DOT(__dp2a_lo, int16_t, int8_t, int, short2, char4, 0)
GR__DOT(__dp2a_lo, uint16_t, uint8_t, unsigned, ushort2, uchar4, 0)
GR__DOT(__dp2a_hi, int16_t, int8_t, int, short2, char4, 16)
GR__DOT(__dp2a_hi, uint16_t, uint8_t, unsigned, ushort2, uchar4, 16)
#undef GR__DOT

/* --- memory ------------------------------------------------------------------------------------------------------- */

template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldca(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }
template <class T> static inline void __stcg(T *p, T v) { *p = v; }
template <class T> static inline void __stwb(T *p, T v) { *p = v; }
static inline void __threadfence_system(void) { gr__simt_fence(); }
template <class T> static inline uint64_t __cvta_generic_to_shared(const T *p) { return (uint64_t)p; }

#define GR__SCOPED(name)                                                          \
    template <class T, class V> static inline T name##_block(T *p, V v, GR__HERE) \
    {                                                                             \
        return name(p, (T)v, file, line);                                         \
    }                                                                             \
    template <class T, class V> static inline T name##_system(T *p, V v, GR__HERE) { return name(p, (T)v, file, line); }
GR__SCOPED(atomicAdd)
GR__SCOPED(atomicMin)
GR__SCOPED(atomicMax)
GR__SCOPED(atomicAnd)
GR__SCOPED(atomicOr)
GR__SCOPED(atomicXor)
GR__SCOPED(atomicExch)
GR__SCOPED(atomicInc)
GR__SCOPED(atomicDec)
GR__SCOPED(atomicSub)
#undef GR__SCOPED
template <class T, class U, class V> static inline T atomicCAS_system(T *p, U expected, V v, GR__HERE)
{
    return atomicCAS(p, (T)expected, (T)v, file, line);
}
template <class T, class U, class V> static inline T atomicCAS_block(T *p, U expected, V v, GR__HERE)
{
    return atomicCAS(p, (T)expected, (T)v, file, line);
}

/* --- blocks and warps --------------------------------------------------------------------------------------------- */

static inline int __syncthreads_count(int v, GR__HERE) { return gr__simt_barrier_count(v != 0, file, line); }
static inline int __syncthreads_or(int v, GR__HERE) { return gr__simt_barrier_count(v != 0, file, line) != 0; }
static inline int __syncthreads_and(int v, GR__HERE)
{
    return gr__simt_barrier_count(v != 0, file, line) == (int)(blockDim.x * blockDim.y * blockDim.z);
}
static inline unsigned __activemask(GR__HERE) { return gr__simt_active_lanes(file, line); }
static inline unsigned gr__linear_thread(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

struct gr__match {
    gr__simt_together together;
    uint64_t value;
    unsigned same;
};
static void gr__do_match(gr__simt_together *const all[32], unsigned mask)
{
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++)
            if ((mask >> i & 1) && (mask >> j & 1))
                ((gr__match *)all[i])->same |= (unsigned)(((gr__match *)all[i])->value == ((gr__match *)all[j])->value)
                                               << j;
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T v, GR__HERE)
{
    gr__match lane = {{gr__do_match}, gr__bits(v), 0};
    gr__simt_warp(mask, GR__SIMT_TOGETHER, &lane, file, line);
    return lane.same;
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *all, GR__HERE)
{
    const unsigned same = __match_any_sync(mask, v, file, line);
    *all = same == mask;
    return *all ? mask : 0;
}

/* Unsigned arguments, and bits. */
template <class F> static inline unsigned gr__reduce_bits(unsigned mask, unsigned v, F f, const char *file, int line)
{
    unsigned r = 0;
    bool first = true;
    for (int lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const unsigned other = __shfl_sync(mask, v, lane, 32, file, line);
        r = first ? other : f(r, other);
        first = false;
    }
    return r;
}
static inline unsigned __reduce_add_sync(unsigned mask, unsigned v, GR__HERE)
{
    return (unsigned)__reduce_add_sync(mask, (int)v, file, line);
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned v, GR__HERE)
{
    return gr__reduce_bits(
        mask, v, [](unsigned a, unsigned b) { return a & b; }, file, line);
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned v, GR__HERE)
{
    return gr__reduce_bits(
        mask, v, [](unsigned a, unsigned b) { return a | b; }, file, line);
}
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned v, GR__HERE)
{
    return gr__reduce_bits(
        mask, v, [](unsigned a, unsigned b) { return a ^ b; }, file, line);
}
static inline unsigned __reduce_min_sync(unsigned mask, unsigned v, GR__HERE)
{
    return gr__reduce_bits(
        mask, v, [](unsigned a, unsigned b) { return a < b ? a : b; }, file, line);
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned v, GR__HERE)
{
    return gr__reduce_bits(
        mask, v, [](unsigned a, unsigned b) { return a > b ? a : b; }, file, line);
}

/* --- time --------------------------------------------------------------------------------------------------------- */

static inline long long clock64(void)
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static inline void __nanosleep(unsigned, GR__HERE) { gr__simt_yield(file, line); }
static inline void __trap(void) { abort(); }
static inline void __prof_trigger(int) {}

#endif
