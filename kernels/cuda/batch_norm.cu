/*
 * batch_norm.cu - batch normalisation of x[n,C]: pixels i = 0..n-1 (all dimensions but the last), channels c = 0..C-1.
 *
 *   m[c] = sum_i x[i,c] / n          v[c] = sum_i (x[i,c] - m[c])^2 / n          s[c] = 1 / sqrt(v[c] + epsilon)
 *   h[i,c] = (x[i,c] - m[c]) s[c]    y = gamma[c] h + beta[c] + residual, then max(0,.) if asked
 *
 *   dz = dY [y > 0] with the ReLU epilogue, else dY; without a residual y is made again of x, which is read anyway
 *   dresidual = dz    dbeta[c] = sum_i dz[i,c]    dgamma[c] = sum_i dz[i,c] h[i,c]
 *   dX = gamma[c] s[c] (dz - dbeta[c] / n - h dgamma[c] / n)       (Ioffe and Szegedy 2015, section 3, put together)
 *   dX = gamma[c] s[c] dz                                          where m and v are given: they do not depend on x
 *
 *   tracked_mean[c] += momentum (m[c] - tracked_mean[c])           where m and v are of k values,
 *   tracked_var[c] += momentum (v[c] k/(k-1) - tracked_var[c])     unless the update is skipped
 *
 * Launch    one each way. Where a channel has few pixels, a block has all of them (batch_norm_slice.cuh). Elsewhere
 *           many blocks share a channel, and the launch has two legs (batch_norm_legs.cuh); with m and v given it is
 *           the second leg alone.
 * Limit     memory: in two legs forward reads x twice and writes y; backward reads x and dY (and y with the ReLU and a
 *           residual) twice and writes dX. With few pixels each is read once, and what takes time is the way to memory
 *           and back. dresidual left by the first leg, and read by the second in place of dY and y, spares a tensor
 *           of eight, but is told at 0.90 of the time only where tensors are larger than L2, elsewhere at up to 1.24.
 * NaN       stays NaN; in y it lets the gradient pass, as in PyTorch.
 * Measured  H200, x[131072,64] floats, when chunks were put together by a launch of its own: forward 39 us, backward
 *           67, 1.7 and 2.0 TB/s.
 */
#include "kernels/cuda/batch_norm_legs.cuh"
#include "kernels/cuda/batch_norm_slice.cuh"

enum { X, GAMMA, BETA, RESIDUAL, MEAN, VAR, TRACKED_MEAN, TRACKED_VAR }; /* inputs */

/* Pixels, channels, and how many of them a thread has side by side. */
typedef struct {
    int64_t n, C;
    int V;
} extent;

template <class E> static extent extent_of(const gr_call *call)
{
    const gr_tensor *x = call->in[X];
    const int64_t C = x->shape[x->ndim - 1];
    return {x->count / C, C, columns_per_thread(C, piece<E>::COUNT)};
}

/* How a call goes if a block has all pixels of its channels; no blocks: it goes in two legs. */
template <class E> static slices slices_of(const gr_call *call)
{
    const extent e = extent_of<E>(call);
    return call->in[MEAN] ? slices{} : slices_over(e.n, e.C, piece<E>::COUNT);
}

template <class E> static plan plan_of(const gr_call *call)
{
    const extent e = extent_of<E>(call);
    return legs_plan(e.n, e.C, e.V, call->exec->multiprocessors);
}

template <class E> static size_t scratch(const gr_call *call, gr_pass pass)
{
    const plan cut = plan_of<E>(call);
    const bool nothing = slices_of<E>(call).blocks > 0 || (pass == GR_FORWARD && call->in[MEAN]);
    return nothing ? 0 : legs_scratch(&cut) * sizeof(float);
}

extern "C" size_t GR_CUDA(batch_norm_scratch)(const gr_call *call, gr_pass pass)
{
    return FOR_ELEMENTS_OF(call->out[0], scratch, call, pass);
}

static tracking tracking_of(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    const double k = (double)args->values;
    return {gr__f32(call->in[TRACKED_MEAN]), gr__f32(call->in[TRACKED_VAR]), (float)args->momentum,
            (float)(k / (k - 1)), call->exec->state};
}

template <class E> static void forward(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    forward_tensors<E> t = {elements<E>(call->out[0]), elements<E>(call->in[X]), elements<E>(call->in[RESIDUAL]),
                            gr__f32(call->in[GAMMA]),  gr__f32(call->in[BETA]),  gr__f32(call->in[MEAN]),
                            gr__f32(call->in[VAR]),    (float)args->epsilon,     args->relu,
                            tracking_of(call)};
    if (!t.mean)
        t.mean = gr__f32(call->out[1]), t.var = gr__f32(call->out[2]);
    const slices s = slices_of<E>(call);
    if (s.blocks > 0)
        GR_LAUNCH((batch_norm_slice<piece<E>::COUNT, E>), s.blocks, SLICE_THREADS, 0, call->exec->queue, t, s);
    else
        forward_in_legs(call->exec, t, plan_of<E>(call), !call->in[MEAN]);
}

/* What gates the gradient of a call. */
template <class E> static relu_gate<E> gate_of(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    if (!args->relu)
        return {NULL, NULL};
    if (call->in[RESIDUAL])
        return {elements<E>(call->out[0]), NULL};
    return {NULL, gr__f32(call->in[BETA])};
}

template <class E> static void backward(const gr_call *call)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)call->options;
    const bool given = call->in[MEAN], writes = call->d_in[X] || call->d_in[RESIDUAL];
    const bool sums = call->d_in[GAMMA] || call->d_in[BETA] || (call->d_in[X] && !given);
    const backward_tensors<E> t = {elements<E>(call->d_in[X]),
                                   elements<E>(call->d_in[RESIDUAL]),
                                   elements<E>(call->d_out[0]),
                                   elements<E>(call->in[X]),
                                   gate_of<E>(call),
                                   gr__f32(call->in[GAMMA]),
                                   gr__f32(given ? call->in[MEAN] : call->out[1]),
                                   gr__f32(given ? call->in[VAR] : call->out[2]),
                                   (float)args->epsilon,
                                   !given,
                                   (bool)(call->accumulate >> X & 1),
                                   (bool)(call->accumulate >> RESIDUAL & 1)};
    const channel_sums to = {gr__f32(call->d_in[GAMMA]), gr__f32(call->d_in[BETA]),
                             (bool)(call->accumulate >> GAMMA & 1), (bool)(call->accumulate >> BETA & 1)};
    const slices s = slices_of<E>(call);
    if (s.blocks > 0 && (sums || writes))
        GR_LAUNCH((batch_norm_slice_gradients<piece<E>::COUNT, E>), s.blocks, SLICE_THREADS, 0, call->exec->queue, t,
                  to, s);
    else if (sums || writes)
        backward_in_legs(call->exec, t, to, plan_of<E>(call), sums, writes);
}

FORWARD_OF_ELEMENTS(batch_norm, forward)
BACKWARD_OF_ELEMENTS(batch_norm, backward)
