/*
 * conv2d.cu - the 2-D convolution, with ReLU if asked; x[N,H,W,C], w[K,R,S,C], b[K], y[N,P,Q,K].
 *
 *   y[n,p,q,k]  = b[k] + sum_{r,s,c} x[n,h,v,c] w[k,r,s,c]      h = p*stride_h + r - pad_top
 *                                                               v = q*stride_w + s - pad_left
 *   dz          = dY [y > 0] with the ReLU epilogue, else dY
 *   dX[n,h,v,c] = sum_{k,r,s} dz[n,p,q,k] w[k,r,s,c]            over the p, q that reach h, v
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n,h,v,c]     db[k] = sum_{n,p,q} dz[n,p,q,k]
 *
 * Products  implicit: the matrix of all windows exists only as the tiles in shared memory.
 *           forward  m = (n*P + p)*Q + q,  n = k,                 k = (r*S + s)*C + c
 *           dX       m = pixel (n, h, v),  n = c,                 k = (r, s, filter), one product for each
 *                                                                 remainder of h and v by the stride, all in one
 *                                                                 launch: gemm_phases.cuh
 *           dW       m = filter,           n = (r*S + s)*C + c,   k = (n*P + p)*Q + q
 * Launch    gemm.cuh: a block for a tile of 32 x 32 or 64 x 64 results and a split of k; if k was split (always in dW,
 *           but for tiny images), the last block of each tile adds the splits where they are few, else further blocks
 *           of dX's launch add dW's, and a second launch those of others. dX and dW: conv_backward.cu; db:
 *           column_sums.cuh.
 *           With the ReLU epilogue dz is made first: gate.cuh.
 * Few       channels: forward and dW by kernels of their own, few_channels.cuh.
 * Halves    x, w, y, dX, dY f16 or bf16, on tensor cores; b, dW and db float. On compute capability 9.0 products of
 *           whole blocks of 64 channels and filters go by conv_boxes.cuh.
 * tf32      floats, rounded as they are multiplied, on tensor cores; of few channels not.
 * Shared, registers, order   gemm_tile.cuh, on tensor cores tensor_tile.cuh: float sums in the order of k within a
 *           split, the splits in shares, in order.
 * Limit     arithmetic: 2 N P Q K R S C operations for each of the three, 4 bytes (halves: 2) each of x, w and y.
 * Measured  H200, batch 128, 64 to 512 channels: floats 34 to 37 TFLOP/s of the 62 of multiply-adds, bf16 170
 *           to 310, at 1,024 280 to 630.
 */
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/conv_backward.cuh"
#include "kernels/cuda/conv_boxes.cuh"
#include "kernels/cuda/few_channels.cuh"
#include "kernels/cuda/gate.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/image_operand.cuh"
#include "kernels/cuda/matrix_operand.cuh"

static gr_geometry geometry(const gr_call *call)
{
    const gr_conv2d_args *args = (const gr_conv2d_args *)call->options;
    const gr_tensor *w = call->in[1];
    return gr__geometry(call->in[0], w->shape[1], w->shape[2], &args->window, false);
}

template <class E> static size_t scratch(const gr_call *call, gr_pass pass)
{
    const gr_geometry g = geometry(call);
    const int64_t K = call->in[1]->shape[0], positions = g.n * g.p * g.q;
    conv_cut cut;
    if (pass == GR_FORWARD && has_few_channels<E>(&g, K))
        return 0;
    if (pass == GR_FORWARD)
        return cut_forward<E>(call->exec, &g, K, &cut) ? plan_scratch(&cut.plan)
                                                       : gemm_scratch<E>(call->exec, positions, K, g.r * g.s * g.c);
    const bool relu = ((const gr_conv2d_args *)call->options)->relu;
    return (relu ? scratch_for<E>(positions * K) : 0) +
           larger(conv_backward_scratch<E>(call->exec, &g, K), column_sums_scratch(positions, K));
}

template <class E> static void forward(const gr_call *call)
{
    const gr_conv2d_args *args = (const gr_conv2d_args *)call->options;
    const gr_geometry g = geometry(call);
    const int64_t K = call->in[1]->shape[0], taps = g.r * g.s * g.c;
    const result<E> y = {elements<E>(call->out[0]), elements<float>(call->in[2]), K, args->relu};
    const E *x = elements<E>(call->in[0]), *w = elements<E>(call->in[1]);
    if (has_few_channels<E>(&g, K))
        return few_forward(call->exec, x, w, y, &g);
    conv_cut cut;
    if constexpr (tiles<E>::WGMMA)
        if (cut_forward<E>(call->exec, &g, K, &cut))
            return forward_boxes(call->exec, x, w, y, &g, K, &cut);
    gemm(call->exec, image_positions(x, &g), by_line(w, K, taps), y, g.n * g.p * g.q, K, taps);
}

template <class E> static void backward(const gr_call *call)
{
    const gr_conv2d_args *args = (const gr_conv2d_args *)call->options;
    const gr_geometry g = geometry(call);
    const int64_t K = call->in[1]->shape[0];
    const E *x = elements<E>(call->in[0]), *w = elements<E>(call->in[1]), *dy = elements<E>(call->d_out[0]);
    gr_exec exec = *call->exec;
    const E *in_memory = gated(&exec, dy, args->relu ? elements<E>(call->out[0]) : NULL, g.n * g.p * g.q * K);
    const plain_gradient<E> dz = {in_memory, (int)g.p, (int)g.q, (int)K};
    const unsigned add = call->accumulate;
    const conv_gradients<E> of = {
        x, w, elements<E>(call->d_in[0]), elements<float>(call->d_in[1]), (add & 1) != 0, (add & 2) != 0};
    conv_backward(&exec, of, dz, &g, K);
    if (call->d_in[2])
        column_sums(&exec, elements<float>(call->d_in[2]), plain_rows<E>{dz.dz, K}, g.n * g.p * g.q, K, (add & 4) != 0);
}

PRODUCTS_OF_ELEMENTS(conv2d)
