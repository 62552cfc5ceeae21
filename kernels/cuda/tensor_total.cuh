/*
 * tensor_total.cuh - the sum of all elements of a tensor, or of their squares: sum, mean, global_norm and l2_penalty.
 *
 * Launch    blocks of 256 threads, at most 1024 of them, each thread with at least four quads a grid apart; then one
 *           block.
 * Limit     memory: each element is read once.
 */
#ifndef GRADUS_TENSOR_TOTAL_CUH
#define GRADUS_TENSOR_TOTAL_CUH

#include "kernels/cuda/quad.cuh"
#include "kernels/cuda/total.cuh"

enum { TENSOR_TOTAL_PER_BLOCK = 4 * QUAD * TOTAL_THREADS };

/* x[count]; a sum for each place in a quad, so that four additions are under way at a time */
static __global__ void tensor_total(float *partial, const float *x, bool squares, int64_t count)
{
    quad sum = {{0, 0, 0, 0}};
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        const quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            sum.at[j] += squares ? v.at[j] * v.at[j] : v.at[j];
    }
    total_leave(partial, (sum.at[0] + sum.at[1]) + (sum.at[2] + sum.at[3]));
}

static size_t tensor_total_bytes(const gr_call *call)
{
    return total_bytes(total_blocks(call->in[0]->count, TENSOR_TOTAL_PER_BLOCK));
}

/* result = factor sum x, or the sum of squares, or its square root; partial: tensor_total_bytes of x. */
static void tensor_total_into(float *result, float *partial, const gr_tensor *x, bool squares, double factor, bool root,
                              void *queue)
{
    const unsigned blocks = total_blocks(x->count, TENSOR_TOTAL_PER_BLOCK);
    GR_LAUNCH(tensor_total, blocks, TOTAL_THREADS, 0, queue, partial, gr__f32(x), squares, x->count);
    GR_LAUNCH(total_finish, 1, TOTAL_THREADS, 0, queue, result, partial, blocks, (float)factor, root);
}

/* The same from in[0] to out[0]. */
static inline void tensor_total_of(const gr_call *call, bool squares, double factor, bool root)
{
    tensor_total_into(gr__f32(call->out[0]), (float *)call->exec->scratch, call->in[0], squares, factor, root,
                      call->exec->queue);
}

#endif
