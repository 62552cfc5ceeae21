/*
 * dense_update.cuh - what dense_sgd and dense_adam share: db, dX from the old weights and what becomes of dW. With few
 * samples all but db is one sweep over w; else two products, of which the second changes w. The kernels of all but dW
 * are compiled once, in dense_update.cu, for floats, tf32, f16 and bf16.
 */
#ifndef GRADUS_DENSE_UPDATE_CUH
#define GRADUS_DENSE_UPDATE_CUH

#include "kernels/cuda/dense_sweep.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/matrix_operand.cuh"

/* x[N,in], dz[N,out], w[in,out]; E: float or a half, or tf32 where the call asks for it */
template <class E> struct dense_update {
    gr_exec exec; /* whose scratch is free */
    int64_t N, in, out;
    const E *x, *dz;
    const float *w;
};

/* Where y is given, makes dz in exec's scratch. */
#define dense_update_of GR_CUDA(dense_update_of)
template <class E> dense_update<E> dense_update_of(const gr_call *call, gr_exec exec);

#define dense_update_scratch GR_CUDA(dense_update_scratch)
template <class E> size_t dense_update_scratch(const gr_call *call);

/* db[out] */
#define dense_update_db GR_CUDA(dense_update_db)
template <class E> void dense_update_db(const dense_update<E> *u, float *db);

/* dx[N,in] by a product */
#define dense_update_dx GR_CUDA(dense_update_dx)
template <class E> void dense_update_dx(const dense_update<E> *u, E *dx);

/*
 * Whether halves of a call are updated with their gradient. Of more samples dW on tensor cores and the update apart
 * take less time (H200, x[128,320000] w[320000,128] of bf16: 362 us, and 465 together).
 */
static inline bool dense_update_halves(const gr_op *op, const gr_call *call, gr_pass pass)
{
    return call->in[0]->shape[0] <= SWEEP_SAMPLES && gr__halves_by_type(op, call, pass);
}

/*
 * db[out] or NULL, dx[N,in] or NULL; dW[in,out] is handed to a destination that changes w by it, and whose recall gives
 * the old w.
 */
template <class E, class TO> static void dense_update_run(const dense_update<E> *u, E *dx, float *db, const TO &to)
{
    typedef typename swept<E>::element S;
    if (db)
        dense_update_db(u, db);
    if (sweeps(&u->exec, u->N, u->in, u->out)) {
        const dense_sweep<S> all = {(const S *)u->x, (const S *)u->dz, (S *)dx, false, true, (int)u->N, u->in, u->out};
        sweep(&u->exec, all, to);
        return;
    }
    if (dx)
        dense_update_dx(u, dx);
    gemm(&u->exec, by_depth(u->x, u->in, u->N), by_depth(u->dz, u->out, u->N), to, u->in, u->out, u->N);
}

#endif
