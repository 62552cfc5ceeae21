/*
 * dense_update.cuh - what dense_sgd and dense_adam share: db, dX from the old weights and what becomes of dW. With few
 * samples all but db is one sweep over w; else two products, of which the second changes w.
 */
#ifndef GRADUS_DENSE_UPDATE_CUH
#define GRADUS_DENSE_UPDATE_CUH

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/dense_sweep.cuh"
#include "kernels/cuda/gate.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"
#include "kernels/cuda/result.cuh"

/* x[N,in], dz[N,out], w[in,out]; E: float or a half, or tf32 where the call asks for it */
template <class E> struct dense_update {
    gr_exec exec; /* whose scratch is free */
    int64_t N, in, out;
    const E *x, *dz;
    const float *w;
};

/* Where y is given, makes dz in exec's scratch. */
template <class E> static dense_update<E> dense_update_of(const gr_call *call, gr_exec exec)
{
    gr_tensor *const *in = call->in;
    const E *dz = gated(&exec, elements<E>(in[1]), elements<E>(in[3]), in[1]->count);
    return dense_update<E>{exec, in[0]->shape[0], in[2]->shape[0], in[2]->shape[1], elements<E>(in[0]),
                           dz,   gr__f32(in[2])};
}

template <class E> static size_t dense_update_scratch(const gr_call *call)
{
    gr_tensor *const *in = call->in;
    const int64_t N = in[0]->shape[0], from = in[2]->shape[0], to = in[2]->shape[1];
    const size_t products = larger(gemm_scratch<E>(call->exec, N, from, to), gemm_scratch<E>(call->exec, from, to, N));
    return (in[3] ? scratch_for<E>(N * to) : 0) +
           larger(sweeps(call->exec, N, from, to) ? 0 : products, column_sums_scratch(N, to));
}

/* dx[N,in] by a product */
template <class E> static void dense_dx(const dense_update<E> *u, E *dx)
{
    const matrix_by_line<E> dz = by_line(u->dz, u->N, u->out);
    if constexpr (sizeof(E) == sizeof(float))
        gemm(&u->exec, dz, by_line((const E *)u->w, u->in, u->out), gradient_result<E>{dx, u->in, false}, u->N, u->in,
             u->out);
    else
        gemm_loose(&u->exec, dz, rounded_by_line<E>{u->w, u->in, u->out}, plain_result<E>{dx, u->in},
                   gemm_cut<E>(&u->exec, u->N, u->in, u->out));
}

/*
 * db[out] or NULL, dx[N,in] or NULL; dW[in,out] is handed to a destination that changes w by it, and whose recall gives
 * the old w.
 */
template <class E, class TO> static void dense_update_run(const dense_update<E> *u, E *dx, float *db, const TO &to)
{
    typedef typename swept<E>::element S;
    if (db)
        column_sums(&u->exec, db, plain_rows<E>{u->dz, u->out}, u->N, u->out, false);
    if (sweeps(&u->exec, u->N, u->in, u->out)) {
        const dense_sweep<S> all = {(const S *)u->x, (const S *)u->dz, (S *)dx, false, true, (int)u->N, u->in, u->out};
        sweep(&u->exec, all, to);
        return;
    }
    if (dx)
        dense_dx(u, dx);
    gemm(&u->exec, by_depth(u->x, u->in, u->N), by_depth(u->dz, u->out, u->N), to, u->in, u->out, u->N);
}

#endif
