/*
 * dense_sgd.cu - a dense layer's backward pass with its SGD update, without a buffer for dW; x[N,in], dy[N,out],
 * w[in,out], y[N,out] where the layer ended in ReLU.
 *
 *   dz = dY [y > 0] where y is given, else dY
 *   dX[n,i] = sum_j dz[n,j] w[i,j]     db[j] = sum_n dz[n,j]     then w[i,j] -= lr sum_n x[n,i] dz[n,j] / S
 *
 * S is the loss scale, read from the step state; dY carries it, and dX and db keep it.
 *
 * Products  as in dense.cu. The tile of dW goes from registers into w: nothing else needs it. Of few samples dX and dW
 *           are one sweep over w: dense_sweep.cuh.
 * Launch    db, then dX, then dW: in the order of the stream, so dX reads the old w. Tiles and splits: gemm.cuh. Where
 *           the samples are split (many samples, few weights), the stage that adds the splits changes w.
 * Halves    of up to 32 samples: x, dy, y, dX f16 or bf16, products on tensor cores; w is float, and dX is of the
 *           rounded w. A copy of w in halves, where the call has one, changes with it: weights.cuh.
 * Shared, registers, order   gemm_tile.cuh, of halves and tf32 tensor_tile.cuh; dense_sweep.cuh; column_sums.cuh
 * Skip      state->skip is read where w would be written: dX and db are computed all the same.
 * Limit     memory for few samples: w is read and written once, against twice read, once written, and dW both, for the
 *           two operations apart.
 * Measured  H200, w[320000,128] floats: 128 samples 0.60 ms, 35 TFLOP/s; 16 samples 0.16 ms, 2.3 TB/s.
 */
#include "kernels/cuda/dense_update.cuh"
#include "kernels/cuda/weights.cuh"

template <class H> struct sgd_result {
    weights<H> w; /* [in][n] */
    const gr_step_state *state;
    int64_t n;
};

typedef struct {
    quad w;
} sgd_quads;

template <class H> GR_DEVICE sgd_quads recall(const sgd_result<H> *to, const spot &at)
{
    return {quad_inside(to->w.at + at.row * to->n + at.column, at.inside, at.whole)};
}

template <class H> GR_DEVICE void finish(const sgd_result<H> *to, const spot &at, sgd_quads old, const quad &g)
{
    if (to->state->skip)
        return;
    const float lr = (float)to->state->lr / to->state->loss_scale;
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        old.w.at[j] -= lr * g.at[j];
    weights_put(&to->w, at.row * to->n + at.column, at.inside, at.whole, old.w);
}

extern "C" size_t GR_CUDA(dense_sgd_scratch)(const gr_call *call, gr_pass)
{
    return FOR_FACTORS_OF(call->in[0], call, dense_update_scratch, call);
}

template <class E> static void forward(const gr_call *call)
{
    typedef typename swept<E>::element H; /* a copy is of the halves that are multiplied */
    const dense_update<E> u = dense_update_of<E>(call, *call->exec);
    const sgd_result<H> to = {weights_of<H>(call, 2), call->exec->state, u.out};
    dense_update_run(&u, elements<E>(call->out[0]), gr__f32(call->out[1]), to);
}

extern "C" void GR_CUDA(dense_sgd_forward)(const gr_call *call)
{
    FOR_FACTORS_OF(call->in[0], call, forward, call);
}

extern "C" bool GR_CUDA(dense_sgd_halves)(const gr_call *call, gr_pass pass)
{
    return dense_update_halves(&gr__ops[GR_OP_dense_sgd], call, pass);
}
