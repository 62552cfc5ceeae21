/*
 * accuracy.cu - correct = sum_n weight[n] [class(z[n]) = labels[n]]. The class is the first largest of C logits, or z >
 * 0 for a single one; a NaN is no class.
 *
 * Launch    a warp for each sample, its lanes 32 logits apart; eight warps to a block, at most 1024 blocks, which leave
 *           their sums in scratch; then one block adds those (total.cuh).
 * Limit     memory: each logit is read once.
 * Measured  not yet.
 */
#include "kernels/cuda/class_of.cuh"
#include "kernels/cuda/loss.cuh"
#include "kernels/cuda/total.cuh"

/* z[N,C], labels[N], weight[N] or NULL */
static __global__ void accuracy(float *partial, const float *z, const int32_t *labels, const float *weight, int64_t N,
                                int64_t C)
{
    float correct = 0; /* of this thread: lane 0 speaks for its warp */
    for (int64_t n = warp_first(); n < N; n += warp_stride())
        if (class_of(z + n * C, C) == labels[n] && threadIdx.x % WARP == 0)
            correct += sample_weight(weight, n);
    total_leave(partial, correct);
}

extern "C" size_t GR_CUDA(accuracy_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return total_bytes(total_blocks(call->in[0]->shape[0], TOTAL_THREADS / WARP));
}

extern "C" void GR_CUDA(accuracy_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const unsigned blocks = total_blocks(N, TOTAL_THREADS / WARP);
    float *partial = (float *)call->exec->scratch;
    GR_LAUNCH(accuracy, blocks, TOTAL_THREADS, 0, call->exec->queue, partial, gr__f32(call->in[0]),
              gr__i32(call->in[1]), gr__f32(call->in[2]), N, C);
    GR_LAUNCH(total_finish, 1, TOTAL_THREADS, 0, call->exec->queue, gr__f32(call->out[0]), partial, blocks, 1.0f,
              false);
}
