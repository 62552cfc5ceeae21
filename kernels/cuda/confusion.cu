/*
 * confusion.cu - counts[i,j] = sum_n weight[n] [labels[n] = i] [class(z[n]) = j]. The class is that of accuracy; a NaN
 * is no class.
 *
 * Launch    a warp for each sample finds its cell, labels[n] K + class or -1, and leaves it in scratch; then a warp for
 *           each of the K K cells walks over those of all samples, 32 at a time. Nothing is added from two places at
 *           once, so no atomics.
 * Order     a lane adds the weights of its samples in their order, the warp its lanes in a butterfly.
 * Limit     memory: logits once, and K K N cells from the caches; few samples or few classes, or it is better sorted.
 * Measured  not yet.
 */
#include "kernels/cuda/class_of.cuh"
#include "kernels/cuda/loss.cuh"

enum { CONFUSION_THREADS = 256, CONFUSION_BLOCKS = 1 << 20 /* at most */ };

/* z[N,C], labels[N] -> cells[N] */
static __global__ void confusion_cells(int64_t *cells, const float *z, const int32_t *labels, int64_t N, int64_t C,
                                       int64_t K)
{
    for (int64_t n = warp_first(); n < N; n += warp_stride()) {
        const int64_t said = class_of(z + n * C, C), label = labels[n];
        if (threadIdx.x % WARP == 0)
            cells[n] = said >= 0 && label >= 0 && label < K ? label * K + said : -1;
    }
}

/* cells[N], weight[N] or NULL -> counts[K,K] */
static __global__ void confusion_counts(float *counts, const int64_t *cells, const float *weight, int64_t N, int64_t K)
{
    for (int64_t cell = warp_first(); cell < K * K; cell += warp_stride()) {
        float count = 0;
        for (int64_t n = threadIdx.x % WARP; n < N; n += WARP)
            if (cells[n] == cell)
                count += sample_weight(weight, n);
        count = warp_sum(count);
        if (threadIdx.x % WARP == 0)
            counts[cell] = count;
    }
}

static unsigned confusion_blocks(int64_t warps)
{
    const int64_t blocks = (warps + CONFUSION_THREADS / WARP - 1) / (CONFUSION_THREADS / WARP);
    return (unsigned)(blocks < CONFUSION_BLOCKS ? blocks : (int64_t)CONFUSION_BLOCKS);
}

extern "C" size_t GR_CUDA(confusion_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return (size_t)call->in[0]->shape[0] * sizeof(int64_t);
}

extern "C" void GR_CUDA(confusion_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1], K = call->out[0]->shape[0];
    int64_t *cells = (int64_t *)call->exec->scratch;
    GR_LAUNCH(confusion_cells, confusion_blocks(N), CONFUSION_THREADS, 0, call->exec->queue, cells,
              gr__f32(call->in[0]), gr__i32(call->in[1]), N, C, K);
    GR_LAUNCH(confusion_counts, confusion_blocks(K * K), CONFUSION_THREADS, 0, call->exec->queue, gr__f32(call->out[0]),
              cells, gr__f32(call->in[2]), N, K);
}
