/*
 * cast.cuh - numbers in another type, rounded to the nearest, ties to even.
 */
#ifndef GRADUS_CAST_CUH
#define GRADUS_CAST_CUH

#include "kernels/cuda/quad.cuh"

/* y[count], x[count] */
template <class TO, class FROM> static __global__ void cast_forward(TO *y, const FROM *x, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(y, i, count, quad_load(x, i, count), false);
}

template <class TO, class FROM> static void cast(void *queue, TO *y, const FROM *x, int64_t count)
{
    GR_LAUNCH((cast_forward<TO, FROM>), quad_blocks(count), QUAD_THREADS, 0, queue, y, x, count);
}

#endif
