/*
 * dense_update.cuh - what dense_sgd and dense_adam share: dX from the old weights and db, before the product that
 * changes w.
 */
#ifndef GRADUS_DENSE_UPDATE_CUH
#define GRADUS_DENSE_UPDATE_CUH

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/result.cuh"

/* x[N,in], dy[N,out], w[in,out], y[N,out] or NULL; E: float, or tf32 where the call asks for it */
template <class E> struct dense_update {
    int64_t N, in, out;
    const E *x, *dy, *y, *w;
};

template <class E> static dense_update<E> dense_update_of(const gr_call *call)
{
    gr_tensor *const *in = call->in;
    return dense_update<E>{in[0]->shape[0],    in[2]->shape[0],    in[2]->shape[1],   elements<E>(in[0]),
                           elements<E>(in[1]), elements<E>(in[3]), elements<E>(in[2])};
}

template <class E> static size_t dense_update_scratch(const gr_call *call)
{
    const dense_update<E> u = dense_update_of<E>(call);
    const size_t products =
        larger(gemm_scratch<E>(call->exec, u.N, u.in, u.out), gemm_scratch<E>(call->exec, u.in, u.out, u.N));
    return larger(products, column_sums_scratch(u.N, u.out));
}

/* dx[N,in] or NULL, db[out] or NULL */
template <class E> static void dense_dx_db(const gr_exec *exec, const dense_update<E> *u, float *dx, float *db)
{
    const result<float> to = {dx, NULL, u->in, false, false};
    if (dx)
        gemm(exec, masked_by(by_line(u->dy, u->N, u->out), u->y), by_line(u->w, u->in, u->out), to, u->N, u->in,
             u->out);
    if (db)
        column_sums(exec, db, masked_rows<E>{u->dy, u->y, u->out}, u->N, u->out, false);
}

/* dW[in,out], handed to a destination that changes w by it. */
template <class E, class TO> static void dense_dw(const gr_exec *exec, const dense_update<E> *u, const TO &to)
{
    gemm(exec, by_depth(u->x, u->in, u->N), masked_by(by_depth(u->dy, u->out, u->N), u->y), to, u->in, u->out, u->N);
}

#endif
