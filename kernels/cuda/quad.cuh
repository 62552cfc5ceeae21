/*
 * quad.cuh - four elements side by side: the 16 bytes of floats, or 8 of halves, that a thread moves best. Arrays begin
 * at multiples of 16 bytes, as every tensor does; the last quad of an array may be short.
 *
 *   for (int64_t i = quad_first(); i < count; i += quad_stride()) {
 *       quad v = quad_load(x, i, count);
 *       ... v.at[0] to v.at[3], floats; what lies behind the end is 0 and is not stored ...
 *       quad_store(y, i, count, v, accumulate);
 *   }
 */
#ifndef GRADUS_QUAD_CUH
#define GRADUS_QUAD_CUH

#include "kernels/cuda/element.cuh"

enum { QUAD_THREADS = 256 };

/* This thread's first element, and how far it is to the next. */
GR_DEVICE int64_t quad_first(void)
{
    return ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * QUAD;
}
GR_DEVICE int64_t quad_stride(void)
{
    return (int64_t)gridDim.x * blockDim.x * QUAD;
}

/* Elements i to i + 3 of x[count], i a multiple of 4; 0 behind the end. */
template <class E> GR_DEVICE quad quad_load(const E *x, int64_t i, int64_t count)
{
    quad v;
    if (i + QUAD <= count)
        return quad_whole(x + i);
    for (int j = 0; j < QUAD - 1; j++) /* a fixed count: the loop is unrolled and v stays in registers */
        v.at[j] = i + j < count ? float_of(x[i + j]) : 0;
    v.at[QUAD - 1] = 0; /* which would have made it whole */
    return v;
}

/* Writes v to elements i to i + 3 of y[count], or adds it. */
template <class E> GR_DEVICE void quad_store(E *y, int64_t i, int64_t count, quad v, bool accumulate)
{
    if (accumulate) {
        const quad old = quad_load(y, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] += old.at[j];
    }
    if (i + QUAD <= count) {
        quad_write(y + i, v);
    } else {
        for (int j = 0; j < QUAD - 1; j++)
            if (i + j < count)
                y[i + j] = element_of<E>(v.at[j]);
    }
}

static inline int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Blocks of QUAD_THREADS for count elements: enough that each thread has one quad, as far as a grid goes. */
static inline unsigned quad_blocks(int64_t count)
{
    const int64_t blocks = divide_up(count, QUAD * QUAD_THREADS);
    return (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
}

#endif
