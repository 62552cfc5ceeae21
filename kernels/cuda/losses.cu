/*
 * losses.cu - losses from logits; W is the weight of the update.
 *
 *   softmax_cross_entropy, of many classes
 *     prob[n,j] = exp(z[n,j] - max_n) / sum_j exp(z[n,j] - max_n)     the maximum keeps exp from overflowing
 *     t[n,j]    = (1 - e) [j = label_n] + e / C                       the target, with smoothing e
 *     loss      = sum_n weight[n] (log sum_j exp(z[n,j] - max_n) + max_n - sum_j t[n,j] z[n,j]) / W
 *     dZ[n,j]   = dL loss_scale weight[n] / W (prob[n,j] - t[n,j])
 *
 *   sigmoid_bce, of two classes; t is the label, s = sigmoid(z)
 *     loss  = sum_n weight[n] (max(u, 0) + log(1 + exp(-|z|))) / W, u = z for t = 0, -z for t = 1
 *           = sum_n weight[n] (-t log s - (1 - t) log(1 - s)) / W
 *     dZ[n] = dL loss_scale weight[n] / W (s - t)
 *
 * Launch    forward: a warp for each sample of many classes, its lanes 32 logits apart, since a row of C logits begins
 *           anywhere, or a thread for each sample of two; blocks of 256 threads, at most 1024 of them, which leave
 *           their sums in scratch; the last to come adds those (total.cuh). Backward: a thread for four elements side
 *           by side, or one for each sample of two classes.
 * Order     that of total.cuh.
 * Limit     memory: a row is read from there once, by the search for its maximum; 1000 logits then stay in the
 *           first-level cache. With few classes the launches: a batch is some kilobytes.
 * Labels    outside 0..C-1, or other than 0 and 1 of two classes, make the loss NaN, and the sample's gradient: weights
 *           cannot follow it unseen. exp(-|z|) cannot overflow.
 * Measured  H200, 128 samples: 13 us forward and 10 backward of 10 classes, 18 and 10 of 1,000: launches.
 */
#include "kernels/cuda/loss.cuh"
#include "kernels/cuda/quad.cuh"
#include "kernels/cuda/total.cuh"

/* The entry points of a loss: function<E>(call) for the E of the logits. The loss, prob and weights are floats. */
#define LOSS_OF_ELEMENTS(name, forward, backward)                 \
    extern "C" void GR_CUDA(name##_forward)(const gr_call *call)  \
    {                                                             \
        FOR_ELEMENTS_OF(call->in[0], forward, call);              \
    }                                                             \
    extern "C" void GR_CUDA(name##_backward)(const gr_call *call) \
    {                                                             \
        FOR_ELEMENTS_OF(call->in[0], backward, call);             \
    }

/* --- softmax_cross_entropy ---------------------------------------------------------------------------------------- */

/* The target as high + low: where prob comes close to it, one float would leave prob - t with too few right digits. */
typedef struct {
    float high, low;
} target;

static target target_of(double t)
{
    const float high = (float)t;
    return {high, (float)(t - (double)high)};
}

/* Loss of the logits z[C] without its weight, in every lane; fills prob[C] (or not: NULL). All lanes must come. */
template <class E> GR_DEVICE float row_loss(float *prob, const E *z, int64_t label, float smoothing, int64_t C)
{
    const int lane = threadIdx.x % WARP;
    float largest = -INFINITY, sum = 0, total = 0;
    for (int64_t j = lane; j < C; j += WARP)
        largest = float_of(z[j]) > largest || isnan(float_of(z[j])) ? float_of(z[j]) : largest;
    largest = warp_max(largest);
    for (int64_t j = lane; j < C; j += WARP) {
        sum += expf(float_of(z[j]) - largest);
        total += float_of(z[j]);
    }
    sum = warp_sum(sum);
    total = warp_sum(total);
    for (int64_t j = lane; prob && j < C; j += WARP)
        prob[j] = expf(float_of(z[j]) - largest) / sum;
    if (label < 0 || label >= C)
        return NAN;
    /* a class of no weight may have the logit -infinity */
    const float right = float_of(z[label]);
    const float expected = smoothing > 0 ? (1 - smoothing) * right + smoothing * total / (float)C : right;
    return logf(sum) + largest - expected;
}

/* prob[N,C] or NULL, z[N,C], labels[N], weight[N] or NULL */
template <class E>
static __global__ void softmax_cross_entropy_forward(total to, float *prob, const E *z, const int32_t *labels,
                                                     const float *weight, float smoothing, const gr_step_state *state,
                                                     int64_t N, int64_t C)
{
    const float share = (float)loss_share(state, N);
    float loss = 0; /* of this thread: lane 0 speaks for its warp */
    for (int64_t n = warp_first(); n < N; n += warp_stride()) {
        const float row = row_loss(prob ? prob + n * C : NULL, z + n * C, labels[n], smoothing, C);
        loss += threadIdx.x % WARP == 0 ? sample_weight(weight, n) * row : 0;
    }
    total_finish(&to, share * loss, 1, false);
}

/* dz[N,C], prob[N,C], labels[N], weight[N] or NULL, dloss[1]; the target of the label and that of the other classes */
template <class E>
static __global__ void softmax_cross_entropy_backward(E *dz, const float *prob, const int32_t *labels,
                                                      const float *weight, const float *dloss, target label,
                                                      target other, const gr_step_state *state, int64_t N, int64_t C,
                                                      bool accumulate)
{
    const float slope = loss_slope(dloss, state, N);
    for (int64_t i = quad_first(); i < N * C; i += quad_stride()) {
        quad v = quad_load(prob, i, N * C);
        int64_t n = i / C, c = i % C;
        for (int j = 0; j < QUAD && n < N; j++) {
            const bool none = labels[n] < 0 || labels[n] >= C;
            const target t = none ? target{NAN, 0} : c == labels[n] ? label : other;
            v.at[j] = slope * sample_weight(weight, n) * (v.at[j] - t.high - t.low);
            c = c + 1 < C ? c + 1 : 0;
            n += c == 0;
        }
        quad_store(dz, i, N * C, v, accumulate);
    }
}

extern "C" size_t GR_CUDA(softmax_cross_entropy_scratch)(const gr_call *call, gr_pass pass)
{
    return pass == GR_FORWARD ? total_bytes(total_blocks(call->in[0]->shape[0], TOTAL_THREADS / WARP)) : 0;
}

template <class E> static void cross_entropy(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const unsigned blocks = total_blocks(N, TOTAL_THREADS / WARP);
    GR_LAUNCH((softmax_cross_entropy_forward<E>), blocks, TOTAL_THREADS, 0, call->exec->queue, total_of(call),
              gr__f32(call->out[1]), elements<E>(call->in[0]), gr__i32(call->in[1]), gr__f32(call->in[2]),
              (float)((const gr_cross_entropy_args *)call->options)->smoothing, call->exec->state, N, C);
}

template <class E> static void cross_entropy_gradient(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const double smoothing = ((const gr_cross_entropy_args *)call->options)->smoothing, other = smoothing / (double)C;
    if (call->d_in[0])
        GR_LAUNCH((softmax_cross_entropy_backward<E>), quad_blocks(N * C), QUAD_THREADS, 0, call->exec->queue,
                  elements<E>(call->d_in[0]), gr__f32(call->out[1]), gr__i32(call->in[1]), gr__f32(call->in[2]),
                  gr__f32(call->d_out[0]), target_of(1 - smoothing + other), target_of(other), call->exec->state, N, C,
                  call->accumulate & 1);
}

LOSS_OF_ELEMENTS(softmax_cross_entropy, cross_entropy, cross_entropy_gradient)

/* --- sigmoid_bce -------------------------------------------------------------------------------------------------- */

/* z[N], labels[N], weight[N] or NULL */
template <class E>
static __global__ void sigmoid_bce_forward(total to, const E *z, const int32_t *labels, const float *weight,
                                           const gr_step_state *state, int64_t N)
{
    const float share = (float)loss_share(state, N);
    float sum = 0;
#pragma unroll 1 /* a second turn wants more samples than a batch has */
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < N; n += (int64_t)gridDim.x * blockDim.x) {
        const float v = float_of(z[n]), wrong = labels[n] == 0 ? v : labels[n] == 1 ? -v : NAN;
        sum += sample_weight(weight, n) * ((wrong < 0 ? 0 : wrong) + log1pf(expf(-fabsf(v))));
    }
    total_finish(&to, share * sum, 1, false);
}

/* dz[N], z[N], labels[N], weight[N] or NULL, dloss[1] */
template <class E>
static __global__ void sigmoid_bce_backward(E *dz, const E *z, const int32_t *labels, const float *weight,
                                            const float *dloss, const gr_step_state *state, int64_t N, bool accumulate)
{
    const float slope = loss_slope(dloss, state, N);
#pragma unroll 1 /* a second turn wants more samples than a batch has */
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < N; n += (int64_t)gridDim.x * blockDim.x) {
        const float t = labels[n] == 0 || labels[n] == 1 ? (float)labels[n] : NAN;
        const float d = slope * sample_weight(weight, n) * (1 / (1 + expf(-float_of(z[n]))) - t);
        dz[n] = element_of<E>(accumulate ? float_of(dz[n]) + d : d);
    }
}

extern "C" size_t GR_CUDA(sigmoid_bce_scratch)(const gr_call *call, gr_pass pass)
{
    return pass == GR_FORWARD ? total_bytes(total_blocks(call->in[0]->shape[0], TOTAL_THREADS)) : 0;
}

template <class E> static void bce(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0];
    const unsigned blocks = total_blocks(N, TOTAL_THREADS);
    GR_LAUNCH((sigmoid_bce_forward<E>), blocks, TOTAL_THREADS, 0, call->exec->queue, total_of(call),
              elements<E>(call->in[0]), gr__i32(call->in[1]), gr__f32(call->in[2]), call->exec->state, N);
}

template <class E> static void bce_gradient(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0];
    if (call->d_in[0])
        GR_LAUNCH((sigmoid_bce_backward<E>), total_blocks(N, TOTAL_THREADS), TOTAL_THREADS, 0, call->exec->queue,
                  elements<E>(call->d_in[0]), elements<E>(call->in[0]), gr__i32(call->in[1]), gr__f32(call->in[2]),
                  gr__f32(call->d_out[0]), call->exec->state, N, call->accumulate & 1);
}

LOSS_OF_ELEMENTS(sigmoid_bce, bce, bce_gradient)
