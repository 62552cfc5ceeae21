/*
 * dense.cu - y = x w + b, with ReLU if asked; x[N,in], w[in,out], b[out], y[N,out].
 *
 *   y[n,j]  = b[j] + sum_i x[n,i] w[i,j]
 *   dz      = dY [y > 0] with the ReLU epilogue, else dY
 *   dX[n,i] = sum_j dz[n,j] w[i,j]     dW[i,j] = sum_n x[n,i] dz[n,j]     db[j] = sum_n dz[n,j]
 *
 * Products  forward  m = n,  n = j,  k = i:  a = x by line,    b = w by depth
 *           dX       m = n,  n = i,  k = j:  a = dz by line,   b = w by line
 *           dW       m = i,  n = j,  k = n:  a = x by depth,   b = dz by depth
 *           No matrix is transposed in memory. With the ReLU epilogue dz is made first: gate.cuh.
 *           dX and dW of few samples are one sweep over w instead: dense_sweep.cuh; not dX alone on tensor cores.
 * Launch    gemm.cuh: a block for a tile of 32 x 32 or 64 x 64 results and a split of k; if k was split, the last block
 *           of each tile adds the splits where they are few, else a second launch does. db: column_sums.cuh.
 * Halves    x, w, y, dX, dY f16 or bf16, on tensor cores; b, dW and db float.
 * tf32      floats, rounded as they are multiplied, on tensor cores.
 * Shared, registers, order   gemm_tile.cuh, on tensor cores tensor_tile.cuh: float sums in the order of k within a
 *           split, the splits in shares, in order.
 * Limit     arithmetic from about 64 samples on; below, reading w: 16 samples of 320,000 features read 164 MB for
 *           1.3 GFLOP, which is why k is split over the whole GPU there.
 * Measured  H200, x[128,320000] w[320000,128] floats: forward 41 TFLOP/s, backward 37 of the 62 of multiply-adds; with
 *           16 samples 1.8 and 2.5 TB/s.
 */
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/dense_sweep.cuh"
#include "kernels/cuda/gate.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/result.cuh"

/* N, in and out of a call. */
typedef struct {
    int64_t N, in, out;
} extents;

static extents extents_of(const gr_call *call)
{
    return (extents){call->in[0]->shape[0], call->in[1]->shape[0], call->in[1]->shape[1]};
}

template <class E> static size_t scratch(const gr_call *call, gr_pass pass)
{
    const extents g = extents_of(call);
    if (pass == GR_FORWARD)
        return gemm_scratch<E>(call->exec, g.N, g.out, g.in);
    const bool relu = ((const gr_dense_args *)call->options)->relu;
    return (relu ? scratch_for<E>(g.N * g.out) : 0) +
           larger(larger(gemm_scratch<E>(call->exec, g.N, g.in, g.out), gemm_scratch<E>(call->exec, g.in, g.out, g.N)),
                  column_sums_scratch(g.N, g.out));
}

template <class E> static void forward(const gr_call *call)
{
    const gr_dense_args *args = (const gr_dense_args *)call->options;
    const extents g = extents_of(call);
    const E *x = elements<E>(call->in[0]), *w = elements<E>(call->in[1]); /* [N,in], [in,out] */
    const result<E> y = {elements<E>(call->out[0]), elements<float>(call->in[2]), g.out, args->relu};
    gemm(call->exec, by_line(x, g.N, g.in), by_depth(w, g.out, g.in), y, g.N, g.out, g.in);
}

/* Where dW of a sweep goes to. */
template <class E> struct stored_gradient {
    const E *w; /* [in][n] */
    gradient_result<float> dw;
    int64_t n;
};

template <class E> constexpr bool ADDS_DX<stored_gradient<E>> = true;

typedef struct {
    quad w, dw;
} stored_quads;

template <class E> GR_DEVICE stored_quads recall(const stored_gradient<E> *to, const spot &at)
{
    return {quad_inside(to->w + at.row * to->n + at.column, at.inside, at.whole), recall(&to->dw, at)};
}

template <class E>
GR_DEVICE void finish(const stored_gradient<E> *to, const spot &at, const stored_quads &old, const quad &v)
{
    finish(&to->dw, at, old.dw, v);
}

/*
 * Whether the gradients are one sweep. What it saves is to read w twice, and tiles that are mostly empty: dX alone is
 * left to tensor cores.
 */
template <class E> static bool is_sweep(const gr_call *call)
{
    const extents g = extents_of(call);
    return (call->d_in[1] || (call->d_in[0] && !tensor_cores<E>::USED)) && sweeps(call->exec, g.N, g.in, g.out);
}

/* dX and dW, each or NULL; dz[N,out] */
template <class E> static void sweep_gradients(const gr_call *call, const E *dz)
{
    typedef typename swept<E>::element S;
    const extents g = extents_of(call);
    const unsigned add = call->accumulate;
    const dense_sweep<S> all = {elements<S>(call->in[0]),
                                (const S *)dz,
                                elements<S>(call->d_in[0]),
                                (add & 1) != 0,
                                call->d_in[1] != NULL,
                                (int)g.N,
                                g.in,
                                g.out};
    const gradient_result<float> dw = {elements<float>(call->d_in[1]), g.out, call->d_in[1] && (add & 2)};
    sweep(call->exec, all, stored_gradient<S>{elements<S>(call->in[1]), dw, g.out});
}

/* The same as two products. */
template <class E> static void gradients(const gr_call *call, const gr_exec *exec, const E *dz)
{
    const extents g = extents_of(call);
    const E *x = elements<E>(call->in[0]), *w = elements<E>(call->in[1]);
    const unsigned add = call->accumulate;
    if (call->d_in[0]) {
        const gradient_result<E> dx = {elements<E>(call->d_in[0]), g.in, (add & 1) != 0};
        gemm(exec, by_line(dz, g.N, g.out), by_line(w, g.in, g.out), dx, g.N, g.in, g.out);
    }
    if (call->d_in[1]) {
        const gradient_result<float> dw = {elements<float>(call->d_in[1]), g.out, (add & 2) != 0};
        gemm(exec, by_depth(x, g.in, g.N), by_depth(dz, g.out, g.N), dw, g.in, g.out, g.N);
    }
}

template <class E> static void backward(const gr_call *call)
{
    const gr_dense_args *args = (const gr_dense_args *)call->options;
    const extents g = extents_of(call);
    gr_exec exec = *call->exec;
    const E *dz = gated(&exec, elements<E>(call->d_out[0]), args->relu ? elements<E>(call->out[0]) : NULL, g.N * g.out);
    if (is_sweep<E>(call))
        sweep_gradients(call, dz);
    else
        gradients(call, &exec, dz);
    if (call->d_in[2])
        column_sums(&exec, elements<float>(call->d_in[2]), plain_rows<E>{dz, g.out}, g.N, g.out,
                    (call->accumulate & 4) != 0);
}

PRODUCTS_OF_ELEMENTS(dense)
