/*
 * element.cuh - what the elements of an array may be: float, f16 or bf16. Halves are bits to a kernel until it
 * computes, and it computes in float. tf32 is a float too, but one that a product rounds to tf32 when it multiplies it.
 *
 *   float_of(e)           the element's value
 *   element_of<E>(v)      v as an element, rounded to the nearest, ties to even
 *   passes(e)             whether a ReLU that gave e lets the gradient through: e is above 0, or NaN
 *   quad_whole(p)         four elements as floats, by one read; p a multiple of four elements
 *   quad_write(p, quad)   and by one write
 */
#ifndef GRADUS_ELEMENT_CUH
#define GRADUS_ELEMENT_CUH

#include "kernels/cuda/gpu.h"

enum { QUAD = 4 };

typedef struct {
    float at[QUAD];
} quad;

struct f16 {
    uint16_t bits;
};
struct bf16 {
    uint16_t bits;
};
struct tf32 {
    float value; /* all of it */
};

GR_DEVICE float float_of(float e)
{
    return e;
}
GR_DEVICE float float_of(f16 e)
{
    return gr_f16_float(e.bits);
}
GR_DEVICE float float_of(bf16 e)
{
    return gr_bf16_float(e.bits);
}
GR_DEVICE float float_of(tf32 e)
{
    return e.value;
}

GR_DEVICE float rounded(float v, float)
{
    return v;
}
GR_DEVICE f16 rounded(float v, f16)
{
    return (f16){gr_f16_bits(v)};
}
GR_DEVICE bf16 rounded(float v, bf16)
{
    return (bf16){gr_bf16_bits(v)};
}
GR_DEVICE tf32 rounded(float v, tf32)
{
    return (tf32){v};
}
template <class E> GR_DEVICE E element_of(float v)
{
    return rounded(v, E());
}

GR_DEVICE bool passes(float e)
{
    return !(e <= 0);
}
GR_DEVICE bool passes(tf32 e)
{
    return !(e.value <= 0);
}
/* From the bits: above 0 with the sign clear, or beyond minus infinity. */
GR_DEVICE bool passes(f16 e)
{
    return (uint16_t)(e.bits - 1) < 0x7FFF || e.bits > 0xFC00;
}
GR_DEVICE bool passes(bf16 e)
{
    return (uint16_t)(e.bits - 1) < 0x7FFF || e.bits > 0xFF80;
}

GR_DEVICE quad quad_whole(const float *p)
{
    const float4 v = *(const float4 *)p;
    return (quad){{v.x, v.y, v.z, v.w}};
}
GR_DEVICE quad quad_whole(const tf32 *p)
{
    return quad_whole((const float *)p);
}
template <class H> GR_DEVICE quad quad_whole(const H *p)
{
    const uint2 v = *(const uint2 *)p;
    return (quad){{float_of(H{(uint16_t)v.x}), float_of(H{(uint16_t)(v.x >> 16)}), float_of(H{(uint16_t)v.y}),
                   float_of(H{(uint16_t)(v.y >> 16)})}};
}

GR_DEVICE void quad_write(float *p, quad v)
{
    *(float4 *)p = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
}
GR_DEVICE void quad_write(tf32 *p, quad v)
{
    quad_write((float *)p, v);
}
template <class H> GR_DEVICE void quad_write(H *p, quad v)
{
    const uint32_t first = element_of<H>(v.at[0]).bits | (uint32_t)element_of<H>(v.at[1]).bits << 16;
    const uint32_t last = element_of<H>(v.at[2]).bits | (uint32_t)element_of<H>(v.at[3]).bits << 16;
    *(uint2 *)p = make_uint2(first, last);
}

/* 16 bytes of neighbours: what a thread brings of an operand at a time. */
template <class E> struct __align__(16) piece
{
    enum { COUNT = 16 / sizeof(E) };
    E at[COUNT];
};

/*
 * p[0..COUNT-1], of which inside lie in the array: 0 for the others. whole: p is a multiple of 16 bytes, inside COUNT
 * or none.
 */
template <class E> GR_DEVICE piece<E> piece_inside(const E *p, int64_t inside, bool whole)
{
    piece<E> v = {};
    if (whole) {
        if (inside > 0) {
            const uint4 bytes = *(const uint4 *)p;
            memcpy(&v, &bytes, sizeof v);
        }
        return v;
    }
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++)
        if (j < inside)
            v.at[j] = p[j];
    return v;
}

/*
 * p[0..3], of which inside lie in the array: 0 for the others. whole: p is a multiple of 4 elements, and all four lie
 * in it or, where inside is 0 or less, none.
 */
template <class E> GR_DEVICE quad quad_inside(const E *p, int64_t inside, bool whole)
{
    quad v = {{0, 0, 0, 0}};
    if (whole) /* where the compiler knows it, nothing is left of what follows */
        return inside > 0 ? quad_whole(p) : v;
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        if (j < inside)
            v.at[j] = float_of(p[j]);
    return v;
}

/* Writes the first inside of four neighbours, at least one; whole: all four, and p is a multiple of 4 elements. */
template <class E> GR_DEVICE void quad_put(E *p, int64_t inside, bool whole, quad v)
{
    if (whole) {
        quad_write(p, v);
    } else {
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            if (j < inside)
                p[j] = element_of<E>(v.at[j]);
    }
}

/* --- for the host ------------------------------------------------------------------------------------------------- */

/* A tensor's elements, NULL where there is no tensor. */
template <class E> static inline E *elements(const gr_tensor *t)
{
    return t ? (E *)t->data : NULL;
}

/* function<E>(...) for the E that are t's elements. */
#define FOR_ELEMENTS_OF(t, function, ...)                 \
    ((t)->type == GR_F16    ? function<f16>(__VA_ARGS__)  \
     : (t)->type == GR_BF16 ? function<bf16>(__VA_ARGS__) \
                            : function<float>(__VA_ARGS__))

/*
 * The entry points of an operation whose kernels take floats and halves: function<E>(call) for the E of the result.
 */
#define FORWARD_OF_ELEMENTS(name, function)                      \
    extern "C" void GR_CUDA(name##_forward)(const gr_call *call) \
    {                                                            \
        FOR_ELEMENTS_OF(call->out[0], function, call);           \
    }
#define BACKWARD_OF_ELEMENTS(name, function)                      \
    extern "C" void GR_CUDA(name##_backward)(const gr_call *call) \
    {                                                             \
        FOR_ELEMENTS_OF(call->out[0], function, call);            \
    }

/*
 * Those of an operation made of products, and scratch<E>(call, pass): for floats E is tf32 where the call asks for it.
 */
#define FOR_FACTORS_OF(t, call, function, ...)                               \
    ((t)->type == GR_F32 && (call)->exec->tf32 ? function<tf32>(__VA_ARGS__) \
                                               : FOR_ELEMENTS_OF(t, function, __VA_ARGS__))
#define PRODUCTS_OF_ELEMENTS(name)                                               \
    extern "C" size_t GR_CUDA(name##_scratch)(const gr_call *call, gr_pass pass) \
    {                                                                            \
        return FOR_FACTORS_OF(call->out[0], call, scratch, call, pass);          \
    }                                                                            \
    extern "C" void GR_CUDA(name##_forward)(const gr_call *call)                 \
    {                                                                            \
        FOR_FACTORS_OF(call->out[0], call, forward, call);                       \
    }                                                                            \
    extern "C" void GR_CUDA(name##_backward)(const gr_call *call)                \
    {                                                                            \
        FOR_FACTORS_OF(call->out[0], call, backward, call);                      \
    }

#endif
