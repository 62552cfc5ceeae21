/*
 * vector_types.h - char1 to double4, dim3 and the functions that make them.
 */
#ifndef GRADUS_CUDA_VECTOR_TYPES_H
#define GRADUS_CUDA_VECTOR_TYPES_H

#include "kernels/simt/simt.h"

#define GR__ALIGNED(n) __attribute__((aligned(n)))
#define GR__VECTOR1(T, name) \
    struct name {            \
        T x;                 \
    };                       \
    static inline name make_##name(T x) { return name{x}; }
#define GR__VECTOR2(T, name)                 \
    struct GR__ALIGNED(2 * sizeof(T)) name { \
        T x, y;                              \
    };                                       \
    static inline name make_##name(T x, T y) { return name{x, y}; }
#define GR__VECTOR3(T, name) \
    struct name {            \
        T x, y, z;           \
    };                       \
    static inline name make_##name(T x, T y, T z) { return name{x, y, z}; }
#define GR__VECTOR4(T, name)                                           \
    struct GR__ALIGNED(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name { \
        T x, y, z, w;                                                  \
    };                                                                 \
    static inline name make_##name(T x, T y, T z, T w) { return name{x, y, z, w}; }
#define GR__VECTORS(T, name) \
    GR__VECTOR1(T, name##1) GR__VECTOR2(T, name##2) GR__VECTOR3(T, name##3) GR__VECTOR4(T, name##4)

GR__VECTORS(signed char, char)
GR__VECTORS(unsigned char, uchar)
GR__VECTORS(short, short)
GR__VECTORS(unsigned short, ushort)
GR__VECTORS(int, int)
GR__VECTOR1(unsigned, uint1)
GR__VECTOR2(unsigned, uint2) GR__VECTOR4(unsigned, uint4) /* uint3: simt.h */
    static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return uint3{x, y, z};
}
GR__VECTORS(long, long)
GR__VECTORS(unsigned long, ulong)
GR__VECTORS(long long, longlong)
GR__VECTORS(unsigned long long, ulonglong)
GR__VECTORS(float, float)
GR__VECTORS(double, double)
#undef GR__VECTOR1
#undef GR__VECTOR2
#undef GR__VECTOR3
#undef GR__VECTOR4
#undef GR__VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
