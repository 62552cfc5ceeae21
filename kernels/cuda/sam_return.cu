/*
 * sam_return.cu - p = saved, over a whole slab, also in an update that is skipped.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* p[count], saved[count] */
static __global__ void sam_return(float *p, const float *saved, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(p, i, count, quad_load(saved, i, count), false);
}

extern "C" void GR_CUDA(sam_return_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(sam_return, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), count);
}
