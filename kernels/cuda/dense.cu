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
 *           No matrix is transposed in memory and dz is never stored: an operand masks dY as it loads it.
 * Launch    gemm.cuh: a block of 256 threads for a tile of 128 x 64, 128 x 32 or 32 x 128 results and a split of k; then, if
 *           k was split, eight threads for four results add the splits. db: column_sums.cuh.
 * Shared, registers, order   gemm_tile.cuh: float sums in the order of k within a split, the splits in 8 shares, in order.
 * Limit     arithmetic from about 64 samples on; below, reading w: 16 samples of 320,000 features read 164 MB for
 *           1.3 GFLOP, which is why k is split over the whole GPU there.
 * Measured  not yet.
 */
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/result.cuh"

extern "C" size_t GR_CUDA(dense_scratch)(const gr_call *call, gr_pass pass)
{
    const int64_t N = call->in[0]->shape[0], in = call->in[1]->shape[0], out = call->in[1]->shape[1];
    if (pass == GR_FORWARD)
        return gemm_scratch(N, out, in);
    return larger(larger(gemm_scratch(N, in, out), gemm_scratch(in, out, N)), column_sums_scratch(N, out));
}

extern "C" void GR_CUDA(dense_forward)(const gr_call *call)
{
    const gr_dense_args *args = (const gr_dense_args *)call->options;
    const int64_t N = call->in[0]->shape[0], in = call->in[1]->shape[0], out = call->in[1]->shape[1];
    const float *x = gr__f32(call->in[0]), *w = gr__f32(call->in[1]); /* [N,in], [in,out] */
    const float *b = call->in[2] ? gr__f32(call->in[2]) : NULL;       /* [out] or NULL */
    const result y = {gr__f32(call->out[0]), b, out, args->relu, false};
    gemm(call->exec, by_line(x, NULL, N, in), by_depth(w, NULL, out, in), y, N, out, in);
}

extern "C" void GR_CUDA(dense_backward)(const gr_call *call)
{
    const gr_dense_args *args = (const gr_dense_args *)call->options;
    const int64_t N = call->in[0]->shape[0], in = call->in[1]->shape[0], out = call->in[1]->shape[1];
    const float *x = gr__f32(call->in[0]), *w = gr__f32(call->in[1]), *dy = gr__f32(call->d_out[0]);
    const float *mask = args->relu ? gr__f32(call->out[0]) : NULL; /* y[N,out] or NULL */
    const unsigned add = call->accumulate;
    if (call->d_in[0]) {
        const result dx = {gr__f32(call->d_in[0]), NULL, in, false, (add & 1) != 0};
        gemm(call->exec, by_line(dy, mask, N, out), by_line(w, NULL, in, out), dx, N, in, out);
    }
    if (call->d_in[1]) {
        const result dw = {gr__f32(call->d_in[1]), NULL, out, false, (add & 2) != 0};
        gemm(call->exec, by_depth(x, NULL, in, N), by_depth(dy, mask, out, N), dw, in, out, N);
    }
    if (call->d_in[2])
        column_sums(call->exec, gr__f32(call->d_in[2]), (masked_rows){dy, mask, out}, N, out, (add & 4) != 0);
}
