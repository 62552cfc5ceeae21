/*
 * copy.cuh - to = from or to += from, for the operations that only give a tensor another shape. The engine shares the
 * storage instead wherever it can.
 */
#ifndef GRADUS_COPY_CUH
#define GRADUS_COPY_CUH

#include "kernels/cuda/quad.cuh"

/* to[count], from[count] */
static __global__ void copy(float *to, const float *from, int64_t count, bool accumulate)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(to, i, count, quad_load(from, i, count), accumulate);
}

static void copy_forward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(copy, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->out[0]), gr__f32(call->in[0]),
              count, false);
}

static void copy_backward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH(copy, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->d_in[0]),
                  gr__f32(call->d_out[0]), count, call->accumulate & 1);
}

#endif
