/*
 * cuda_fp16.h - half and half2: stored in 16 bits, computed as floats and rounded after each operation.
 */
#ifndef GRADUS_CUDA_FP16_H
#define GRADUS_CUDA_FP16_H

#include "kernels/simt/cuda/cuda_runtime.h"

struct __align__(2) __half
{
    uint16_t bits;
    __half() = default;
    __half(float f) : bits(gr__float_to_half(f)) {}
    __half(double f) : bits(gr__f16_of(f)) {}
    __half(int i) : bits(gr__f16_of((double)i)) {}
    operator float() const { return gr__half_to_float(bits); }
    __half &operator+=(__half b);
    __half &operator-=(__half b);
    __half &operator*=(__half b);
};
typedef __half half;
struct __align__(4) __half2
{
    __half x, y;
    __half2() = default;
    __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

static inline float __half2float(__half h) { return gr__half_to_float(h.bits); }
static inline __half __float2half(float f) { return __half(f); }
static inline __half __float2half_rn(float f) { return __half(f); }
static inline __half __double2half(double f) { return __half(f); }
static inline __half __int2half_rn(int i) { return __half(i); }
static inline int __half2int_rn(__half h) { return (int)rintf(h); }
static inline unsigned short __half_as_ushort(__half h) { return h.bits; }
static inline __half __ushort_as_half(unsigned short bits)
{
    __half h;
    h.bits = bits;
    return h;
}

#define GR__HALF(name, operation, mark)                                                                     \
    static inline __half name(__half a, __half b) { return __half((float)a mark(float) b); }                \
    static inline __half operator mark(__half a, __half b) { return name(a, b); }                           \
    static inline __half2 name##2(__half2 a, __half2 b) { return __half2(name(a.x, b.x), name(a.y, b.y)); } \
    static inline __half2 operator mark(__half2 a, __half2 b) { return name##2(a, b); }
GR__HALF(__hadd, add, +)
GR__HALF(__hsub, subtract, -)
GR__HALF(__hmul, multiply, *)
#undef GR__HALF
static inline __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
static inline __half operator/(__half a, __half b) { return __hdiv(a, b); }
static inline __half operator-(__half a) { return __half(-(float)a); }
static inline __half __hneg(__half a) { return -a; }
static inline __half __hfma(__half a, __half b, __half c)
{
    return __half(fma((double)(float)a, (double)(float)b, (double)(float)c));
}
static inline __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
inline __half &__half::operator+=(__half b) { return *this = *this + b; }
inline __half &__half::operator-=(__half b) { return *this = *this - b; }
inline __half &__half::operator*=(__half b) { return *this = *this * b; }

#define GR__COMPARE(name, mark)                                                    \
    static inline bool name(__half a, __half b) { return (float)a mark(float) b; } \
    static inline bool operator mark(__half a, __half b) { return (float)a mark(float) b; }
GR__COMPARE(__hlt, <)
GR__COMPARE(__hgt, >)
GR__COMPARE(__hle, <=)
GR__COMPARE(__hge, >=)
GR__COMPARE(__heq, ==)
GR__COMPARE(__hne, !=)
#undef GR__COMPARE
static inline bool __hisnan(__half a) { return isnan((float)a); }
static inline __half __habs(__half a) { return __half(fabsf(a)); }
static inline __half __hmax(__half a, __half b) { return __half(fmaxf(a, b)); }
static inline __half __hmin(__half a, __half b) { return __half(fminf(a, b)); }
static inline __half hexp(__half a) { return __half(expf(a)); }
static inline __half hlog(__half a) { return __half(logf(a)); }
static inline __half hsqrt(__half a) { return __half(sqrtf(a)); }
static inline __half hrsqrt(__half a) { return __half(1 / sqrtf(a)); }

static inline __half2 make_half2(__half a, __half b) { return __half2(a, b); }
static inline __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
static inline __half2 __half2half2(__half a) { return __half2(a, a); }
static inline __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
static inline __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
static inline __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
static inline float2 __half22float2(__half2 a) { return make_float2(a.x, a.y); }
static inline __half __low2half(__half2 a) { return a.x; }
static inline __half __high2half(__half2 a) { return a.y; }
static inline float __low2float(__half2 a) { return a.x; }
static inline float __high2float(__half2 a) { return a.y; }
static inline __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }

#endif
