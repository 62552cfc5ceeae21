/*
 * dense_update.cuh - what dense_sgd and dense_adam share: dX from the old weights and db, before the product that changes w.
 */
#ifndef GRADUS_DENSE_UPDATE_CUH
#define GRADUS_DENSE_UPDATE_CUH

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/result.cuh"

/* x[N,in], dy[N,out], w[in,out], y[N,out] or NULL */
typedef struct {
    int64_t N, in, out;
    const float *x, *dy, *y;
    float *w;
} dense_update;

static inline dense_update dense_update_of(const gr_call *call)
{
    gr_tensor *const *in = call->in;
    return (dense_update){in[0]->shape[0], in[2]->shape[0], in[2]->shape[1], gr__f32(in[0]),
                          gr__f32(in[1]),  gr__f32(in[3]),  gr__f32(in[2])};
}

static inline size_t dense_update_scratch(const dense_update *u)
{
    const size_t products = larger(gemm_scratch<float>(u->N, u->in, u->out), gemm_scratch<float>(u->in, u->out, u->N));
    return larger(products, column_sums_scratch(u->N, u->out));
}

/* dx[N,in] or NULL, db[out] or NULL */
static inline void dense_dx_db(const gr_exec *exec, const dense_update *u, float *dx, float *db)
{
    const result<float> to = {dx, NULL, u->in, false, false};
    if (dx)
        gemm(exec, by_line(u->dy, u->y, u->N, u->out), by_line(u->w, NULL, u->in, u->out), to, u->N, u->in, u->out);
    if (db)
        column_sums(exec, db, masked_rows<float>{u->dy, u->y, u->out}, u->N, u->out, false);
}

/* dW[in,out], handed to a destination that changes w by it. */
template <class TO> static void dense_dw(const gr_exec *exec, const dense_update *u, const TO &to)
{
    gemm(exec, by_depth(u->x, NULL, u->in, u->N), by_depth(u->dy, u->y, u->out, u->N), to, u->in, u->out, u->N);
}

#endif
