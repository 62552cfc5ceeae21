/* cuComplex.h - complex numbers as float2 and double2, real part first. */
#ifndef GRADUS_CUDA_COMPLEX_H
#define GRADUS_CUDA_COMPLEX_H

#include <math.h>

#include "kernels/simt/cuda/vector_types.h"

/* Divisors are brought near 1 first, so that their squares are numbers; f: the suffix of the functions for floats. */
#define GR__COMPLEX(C, T, V, f)                                                                            \
    typedef V C;                                                                                           \
    static inline C make_##C(T re, T im) { return make_##V(re, im); }                                      \
    static inline T cuCreal##f(C z) { return z.x; }                                                        \
    static inline T cuCimag##f(C z) { return z.y; }                                                        \
    static inline C cuConj##f(C z) { return make_##C(z.x, -z.y); }                                         \
    static inline T cuCabs##f(C z) { return hypot##f(z.x, z.y); }                                          \
    static inline C cuCadd##f(C a, C b) { return make_##C(a.x + b.x, a.y + b.y); }                         \
    static inline C cuCsub##f(C a, C b) { return make_##C(a.x - b.x, a.y - b.y); }                         \
    static inline C cuCmul##f(C a, C b) { return make_##C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
    static inline C cuCdiv##f(C a, C b)                                                                    \
    {                                                                                                      \
        const T s = fabs##f(b.x) + fabs##f(b.y), p = a.x / s, q = a.y / s, u = b.x / s, v = b.y / s,       \
                n = u * u + v * v;                                                                         \
        return make_##C((p * u + q * v) / n, (q * u - p * v) / n);                                         \
    }                                                                                                      \
    static inline C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
GR__COMPLEX(cuFloatComplex, float, float2, f)
GR__COMPLEX(cuDoubleComplex, double, double2, )
#undef GR__COMPLEX

typedef cuFloatComplex cuComplex;
static inline cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_cuFloatComplex((float)z.x, (float)z.y);
}

#endif
