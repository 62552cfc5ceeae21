/*
 * dense.c - reference of the dense layer.
 *
 *   y[n,j]  = b[j] + sum_i x[n,i] w[i,j]
 *   dz      = dY [y > 0] with the ReLU epilogue, else dY
 *   dX[n,i] = sum_j dz[n,j] w[i,j]     dW[i,j] = sum_n x[n,i] dz[n,j]     db[j] = sum_n dz[n,j]
 */
#include "kernels/ref/ref.h"

void GR_REF(dense_forward)(const gr_call *call)
{
    const gr_dense_args *args = call->options;
    const int64_t N = call->in[0]->shape[0], in = call->in[1]->shape[0], out = call->in[1]->shape[1];
    const real *x = reals(call->in[0]); /* [N,in] */
    const real *w = reals(call->in[1]); /* [in,out] */
    const real *b = reals(call->in[2]); /* [out] or NULL */
    real *y = reals(call->out[0]);      /* [N,out] */
    for (int64_t n = 0; n < N; n++)
        for (int64_t j = 0; j < out; j++) {
            wide sum = b ? (wide)b[j] : 0;
            for (int64_t i = 0; i < in; i++)
                sum += (wide)x[n * in + i] * (wide)w[i * out + j];
            y[n * out + j] = (real)(args->relu ? relu(sum) : sum);
        }
}

static wide upstream(const gr_call *call, int64_t i)
{
    const gr_dense_args *args = call->options;
    return args->relu && reals(call->out[0])[i] <= 0 ? 0 : (wide)reals(call->d_out[0])[i];
}

void GR_REF(dense_backward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], in = call->in[1]->shape[0], out = call->in[1]->shape[1];
    const real *x = reals(call->in[0]); /* [N,in] */
    const real *w = reals(call->in[1]); /* [in,out] */
    for (int64_t n = 0; call->d_in[0] && n < N; n++)
        for (int64_t i = 0; i < in; i++) {
            wide sum = 0;
            for (int64_t j = 0; j < out; j++)
                sum += upstream(call, n * out + j) * (wide)w[i * out + j];
            give(call, 0, n * in + i, sum);
        }
    for (int64_t i = 0; call->d_in[1] && i < in; i++)
        for (int64_t j = 0; j < out; j++) {
            wide sum = 0;
            for (int64_t n = 0; n < N; n++)
                sum += (wide)x[n * in + i] * upstream(call, n * out + j);
            give(call, 1, i * out + j, sum);
        }
    for (int64_t j = 0; call->d_in[2] && j < out; j++) {
        wide sum = 0;
        for (int64_t n = 0; n < N; n++)
            sum += upstream(call, n * out + j);
        give(call, 2, j, sum);
    }
}
