/*
 * dense_update.cu - of a dense layer's backward pass with its update in it, all but dW, which dense_sgd and dense_adam
 * have in common:
 *
 *   dz = dY [y > 0] where y is given, else dY     gate.cuh
 *   db[j]   = sum_n dz[n,j]                       column_sums.cuh
 *   dX[n,i] = sum_j dz[n,j] w[i,j]                m = n, n = i, k = j: dz by line, w by line, in tiles of gemm.cuh
 */
#include "kernels/cuda/dense_update.cuh"

#include "kernels/cuda/cast.cuh"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/gate.cuh"
#include "kernels/cuda/result.cuh"

template <class E> dense_update<E> dense_update_of(const gr_call *call, gr_exec exec)
{
    gr_tensor *const *in = call->in;
    const E *dz = gated(&exec, elements<E>(in[1]), elements<E>(in[3]), in[1]->count);
    return dense_update<E>{exec, in[0]->shape[0], in[2]->shape[0], in[2]->shape[1], elements<E>(in[0]),
                           dz,   gr__f32(in[2])};
}

/* Whether dX needs a copy of the weights: of halves, for a product to multiply. */
template <class E> constexpr bool ROUNDED_WEIGHTS = sizeof(E) < sizeof(float);

template <class E> size_t dense_update_scratch(const gr_call *call)
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

template <class E> void dense_update_dx(const dense_update<E> *u, E *dx)
{
    gr_exec exec = u->exec;
    const E *w = factors_of(&exec, u);
    gemm(&exec, by_line(u->dz, u->N, u->out), by_line(w, u->in, u->out), plain_result<E>{dx, u->in}, u->N, u->in,
         u->out);
}

template <class E> void dense_update_db(const dense_update<E> *u, float *db)
{
    column_sums(&u->exec, db, plain_rows<E>{u->dz, u->out}, u->N, u->out, false);
}

#define FOR_FACTORS(E)                                                  \
    template dense_update<E> dense_update_of(const gr_call *, gr_exec); \
    template size_t dense_update_scratch<E>(const gr_call *);           \
    template void dense_update_db(const dense_update<E> *, float *);    \
    template void dense_update_dx(const dense_update<E> *, E *);
FOR_FACTORS(float)
FOR_FACTORS(tf32)
FOR_FACTORS(f16)
FOR_FACTORS(bf16)
