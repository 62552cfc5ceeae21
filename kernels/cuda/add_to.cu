/*
 * add_to.cu - dst += src over count floats: what the engine asks of a device beside the operations, to add two
 * gradients.
 */
#include "kernels/cuda/add_to.h"

#include "kernels/cuda/gpu.h"
#include "kernels/cuda/quad.cuh"

static __global__ void add_to(float *dst, const float *src, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(dst, i, count, quad_load(src, i, count), true);
}

extern "C" void GR_CUDA(add_to)(float *dst, const float *src, int64_t count, void *queue)
{
    GR_LAUNCH(add_to, quad_blocks(count), QUAD_THREADS, 0, queue, dst, src, count);
}
