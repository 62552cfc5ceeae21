/* global_avg_pool.c - reference: y[n,c] = sum_i x[n,i,c] / P over the P pixels of an image; dX[n,i,c] = dY[n,c] / P. */
#include "kernels/ref/ref.h"

void GR_REF(global_avg_pool_forward)(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape, N = shape[0], P = shape[1] * shape[2], C = shape[3];
    const real *x = reals(call->in[0]); /* [N,P,C] */
    for (int64_t n = 0; n < N; n++)
        for (int64_t c = 0; c < C; c++) {
            wide sum = 0;
            for (int64_t i = 0; i < P; i++)
                sum += (wide)x[(n * P + i) * C + c];
            reals(call->out[0])[n * C + c] = (real)(sum / (wide)P);
        }
}

void GR_REF(global_avg_pool_backward)(const gr_call *call)
{
    const int64_t *shape = call->in[0]->shape, N = shape[0], P = shape[1] * shape[2], C = shape[3];
    for (int64_t i = 0; call->d_in[0] && i < N * P * C; i++)
        give(call, 0, i, (wide)reals(call->d_out[0])[i / (P * C) * C + i % C] / (wide)P);
}
