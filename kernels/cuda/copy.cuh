/*
 * copy.cuh - to = from or to += from, for the operations that only give a tensor another shape. The engine shares the
 * storage instead wherever it can.
 */
#ifndef GRADUS_COPY_CUH
#define GRADUS_COPY_CUH

#include "kernels/cuda/quad.cuh"

/* to[count], from[count] */
template <class E> static __global__ void copy(E *to, const E *from, int64_t count, bool accumulate)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(to, i, count, quad_load(from, i, count), accumulate);
}

template <class E> static void forward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH((copy<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, elements<E>(call->out[0]),
              elements<E>(call->in[0]), count, false);
}

template <class E> static void backward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH((copy<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, elements<E>(call->d_in[0]),
                  elements<E>(call->d_out[0]), count, call->accumulate & 1);
}

#endif
