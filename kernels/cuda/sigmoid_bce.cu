/*
 * sigmoid_bce.cu - the two-class loss from logits; t is the label, W the weight of the update.
 *
 *   loss  = sum_n weight[n] (max(z, 0) - z t + log(1 + exp(-|z|))) / W     = -t log s - (1 - t) log(1 - s), s =
 *         sigmoid(z)
 *   dZ[n] = dL loss_scale weight[n] / W (sigmoid(z) - t)
 *
 * Launch    forward: a thread for each sample, blocks of 256, at most 1024 of them, which leave their sums in scratch;
 *           then one block adds those (total.cuh). Backward: a thread for each sample.
 * Limit     the launches: a batch is some kilobytes.
 * Labels    other than 0 and 1 make the loss NaN. exp(-|z|) cannot overflow.
 * Measured  not yet.
 */
#include "kernels/cuda/loss.cuh"
#include "kernels/cuda/total.cuh"

/* z[N], labels[N], weight[N] or NULL */
static __global__ void sigmoid_bce_forward(float *partial, const float *z, const int32_t *labels, const float *weight,
                                           const gr_step_state *state, int64_t N)
{
    const float share = (float)loss_share(state, N);
    float sum = 0;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < N; n += (int64_t)gridDim.x * blockDim.x) {
        const float v = z[n], t = labels[n] == 0 || labels[n] == 1 ? (float)labels[n] : NAN;
        sum += sample_weight(weight, n) * ((v < 0 ? 0 : v) - v * t + log1pf(expf(-fabsf(v))));
    }
    total_leave(partial, share * sum);
}

/* dz[N], z[N], labels[N], weight[N] or NULL, dloss[1] */
static __global__ void sigmoid_bce_backward(float *dz, const float *z, const int32_t *labels, const float *weight,
                                            const float *dloss, const gr_step_state *state, int64_t N, bool accumulate)
{
    const float slope = loss_slope(dloss, state, N);
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < N; n += (int64_t)gridDim.x * blockDim.x) {
        const float d = slope * sample_weight(weight, n) * (1 / (1 + expf(-z[n])) - (float)labels[n]);
        dz[n] = accumulate ? dz[n] + d : d;
    }
}

extern "C" size_t GR_CUDA(sigmoid_bce_scratch)(const gr_call *call, gr_pass pass)
{
    return pass == GR_FORWARD ? total_bytes(total_blocks(call->in[0]->shape[0], TOTAL_THREADS)) : 0;
}

extern "C" void GR_CUDA(sigmoid_bce_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0];
    const unsigned blocks = total_blocks(N, TOTAL_THREADS);
    float *partial = (float *)call->exec->scratch;
    GR_LAUNCH(sigmoid_bce_forward, blocks, TOTAL_THREADS, 0, call->exec->queue, partial, gr__f32(call->in[0]),
              gr__i32(call->in[1]), gr__f32(call->in[2]), call->exec->state, N);
    GR_LAUNCH(total_finish, 1, TOTAL_THREADS, 0, call->exec->queue, gr__f32(call->out[0]), partial, blocks, 1.0f,
              false);
}

extern "C" void GR_CUDA(sigmoid_bce_backward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0];
    if (call->d_in[0])
        GR_LAUNCH(sigmoid_bce_backward, total_blocks(N, TOTAL_THREADS), TOTAL_THREADS, 0, call->exec->queue,
                  gr__f32(call->d_in[0]), gr__f32(call->in[0]), gr__i32(call->in[1]), gr__f32(call->in[2]),
                  gr__f32(call->d_out[0]), call->exec->state, N, call->accumulate & 1);
}
