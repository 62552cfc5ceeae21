/*
 * dense_adam.cu - a dense layer's backward pass with its Adam update, without a buffer for dW; x[N,in], dy[N,out], w,
 * m, v [in,out], y[N,out] where the layer ended in ReLU.
 *
 *   dz = dY [y > 0] where y is given, else dY
 *   dX[n,i] = sum_j dz[n,j] w[i,j]     db[j] = sum_n dz[n,j]     then w, m, v by adam.cuh with g = sum_n x[n,i] dz[n,j]
 *                                      / S
 *
 * S is the loss scale, read from the step state; dY carries it, and dX and db keep it.
 *
 * Products  as in dense.cu. The tile of dW goes from registers into w, m and v: nothing else needs it. Of few samples
 *           dX and dW are one sweep over w: dense_sweep.cuh.
 * Launch    one thread for the step's numbers; db, dX, dW in the order of the stream, so dX reads the old w. Tiles and
 *           splits: gemm.cuh. Where the samples are split, the stage that adds the splits changes w, m and v.
 * Scratch   256 bytes for the step's numbers, then that of the products.
 * Halves    of up to 32 samples: x, dy, y, dX f16 or bf16, products on tensor cores; w, m and v are floats, and dX is
 *           of the rounded w. A copy of w in halves, where the call has one, changes with it: weights.cuh.
 * Shared, registers, order   gemm_tile.cuh, of halves and tf32 tensor_tile.cuh; dense_sweep.cuh; column_sums.cuh
 * Skip      state->skip is read where w would be written: dX and db are computed all the same.
 * Limit     memory for few samples: w, m and v once read and once written.
 * Measured  H200, w[320000,128] floats: 128 samples 0.88 ms, 25 TFLOP/s; 16 samples 0.33 ms, 3.1 TB/s.
 */
#include "kernels/cuda/adam.cuh"
#include "kernels/cuda/dense_update.cuh"
#include "kernels/cuda/weights.cuh"

template <class H> struct adam_result {
    weights<H> w; /* [in][n], as m and v */
    float *m, *v;
    const adam_numbers *numbers;
    const gr_step_state *state;
    int64_t n;
};

typedef struct {
    quad w, m, v;
} adam_quads;

template <class H> GR_DEVICE adam_quads recall(const adam_result<H> *to, const spot &at)
{
    const int64_t first = at.row * to->n + at.column;
    return {quad_inside(to->w.at + first, at.inside, at.whole), quad_inside(to->m + first, at.inside, at.whole),
            quad_inside(to->v + first, at.inside, at.whole)};
}

template <class H> GR_DEVICE void finish(const adam_result<H> *to, const spot &at, adam_quads old, const quad &g)
{
    if (to->state->skip)
        return;
    const int64_t first = at.row * to->n + at.column;
    const adam_numbers numbers = *to->numbers;
    const float factor = 1 / to->state->loss_scale;
#pragma unroll
    for (int j = 0; j < QUAD; j++)
        adam_element(&numbers, g.at[j] * factor, &old.w.at[j], &old.m.at[j], &old.v.at[j]);
    weights_put(&to->w, first, at.inside, at.whole, old.w);
    quad_put(to->m + first, at.inside, at.whole, old.m);
    quad_put(to->v + first, at.inside, at.whole, old.v);
}

extern "C" size_t GR_CUDA(dense_adam_scratch)(const gr_call *call, gr_pass)
{
    const size_t update = FOR_FACTORS_OF(call->in[0], call, dense_update_scratch, call);
    return scratch_for<adam_numbers>(1) + update;
}

template <class E> static void forward(const gr_call *call)
{
    typedef typename swept<E>::element H; /* a copy is of the halves that are multiplied */
    const gr_step_state *state = call->exec->state;
    gr_exec exec = *call->exec;
    adam_numbers *numbers = take_scratch<adam_numbers>(&exec, 1);
    GR_LAUNCH(adam_prepare, 1, 32, 0, exec.queue, numbers, *(const gr_adam_args *)call->options, state);
    const dense_update<E> u = dense_update_of<E>(call, exec);
    gr_tensor *const *in = call->in;
    const adam_result<H> to = {weights_of<H>(call, 2), gr__f32(in[4]), gr__f32(in[5]), numbers, state, u.out};
    dense_update_run(&u, elements<E>(call->out[0]), gr__f32(call->out[1]), to);
}

extern "C" void GR_CUDA(dense_adam_forward)(const gr_call *call)
{
    FOR_FACTORS_OF(call->in[0], call, forward, call);
}

extern "C" bool GR_CUDA(dense_adam_halves)(const gr_call *call, gr_pass pass)
{
    return dense_update_halves(&gr__ops[GR_OP_dense_adam], call, pass);
}
