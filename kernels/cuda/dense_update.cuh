/*
 * dense_update.cuh - what dense_sgd and dense_adam share: db, dX from the old weights and what becomes of dW. With few
 * samples all but db is one sweep over w; else two products, of which the second changes w.
 */
#ifndef GRADUS_DENSE_UPDATE_CUH
#define GRADUS_DENSE_UPDATE_CUH

#include "kernels/cuda/cast.cuh"
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

/*
 * Whether halves of a call are updated with their gradient. Of more samples dW on tensor cores and the update apart
 * take less time (H200, x[128,320000] w[320000,128] of bf16: 362 us, and 465 together).
 */
static inline bool dense_update_halves(const gr_op *op, const gr_call *call, gr_pass pass)
{
    return call->in[0]->shape[0] <= SWEEP_SAMPLES && gr__halves_by_type(op, call, pass);
}

/* Whether dX needs a copy of the weights: of halves, for a product to multiply. */
template <class E> constexpr bool ROUNDED_WEIGHTS = sizeof(E) < sizeof(float);

template <class E> static size_t dense_update_scratch(const gr_call *call)
{
    gr_tensor *const *in = call->in;
    const gr_exec *exec = call->exec;
    const int64_t N = in[0]->shape[0], from = in[2]->shape[0], to = in[2]->shape[1];
    const size_t copy = ROUNDED_WEIGHTS<E> && call->out[0] ? scratch_for<E>(from * to) : 0;
    const size_t products = larger(copy + gemm_scratch<E>(exec, N, from, to), gemm_scratch<E>(exec, from, to, N));
    return (in[3] ? scratch_for<E>(N * to) : 0) +
           larger(sweeps(exec, N, from, to) ? 0 : products, column_sums_scratch(N, to));
}

/* The weights as dX multiplies them; a copy of theirs takes exec's scratch. */
template <class E> static const E *factors_of(gr_exec *exec, const dense_update<E> *u)
{
    if constexpr (ROUNDED_WEIGHTS<E>) {
        E *copy = take_scratch<E>(exec, u->in * u->out);
        cast(exec->queue, copy, u->w, u->in * u->out);
        return copy;
    } else {
        return (const E *)u->w;
    }
}

/* dx[N,in] by a product */
template <class E> static void dense_dx(const dense_update<E> *u, E *dx)
{
    gr_exec exec = u->exec;
    const E *w = factors_of(&exec, u);
    gemm(&exec, by_line(u->dz, u->N, u->out), by_line(w, u->in, u->out), plain_result<E>{dx, u->in}, u->N, u->in,
         u->out);
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
