/*
 * tensor_total.cuh - the sum of all elements of a tensor, or of their squares: sum, mean, global_norm and l2_penalty.
 *
 * Launch    blocks of 256 threads, at most 1024 of them, each thread with at least four quads a grid apart.
 * Limit     memory: each element is read once.
 */
#ifndef GRADUS_TENSOR_TOTAL_CUH
#define GRADUS_TENSOR_TOTAL_CUH

#include "kernels/cuda/quad.cuh"
#include "kernels/cuda/total.cuh"

enum { TENSOR_TOTAL_PER_BLOCK = 4 * QUAD * TOTAL_THREADS };

/* x[count]; a sum for each place in a quad, so that four additions are under way at a time */
static __global__ void tensor_total(total to, const float *x, bool squares, float factor, bool root, int64_t count)
{
    quad sum = {{0, 0, 0, 0}};
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        const quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            sum.at[j] += squares ? v.at[j] * v.at[j] : v.at[j];
    }
    total_finish(&to, (sum.at[0] + sum.at[1]) + (sum.at[2] + sum.at[3]), factor, root);
}

static size_t tensor_total_bytes(const gr_call *call)
{
    return total_bytes(total_blocks(call->in[0]->count, TENSOR_TOTAL_PER_BLOCK));
}

/* to = factor sum x, or the sum of squares, or its square root; to.partial: tensor_total_bytes of x. */
static void tensor_total_into(total to, const gr_tensor *x, bool squares, double factor, bool root, void *queue)
{
    GR_LAUNCH(tensor_total, total_blocks(x->count, TENSOR_TOTAL_PER_BLOCK), TOTAL_THREADS, 0, queue, to, gr__f32(x),
              squares, (float)factor, root, x->count);
}

/* The same from in[0] to out[0]. */
static inline void tensor_total_of(const gr_call *call, bool squares, double factor, bool root)
{
    tensor_total_into(total_of(call), call->in[0], squares, factor, root, call->exec->queue);
}

#endif
