/*
 * conv_backward.cuh - dX and dW of a convolution: the products and their scratch.
 *
 *   dX[n,h,w,c] = sum_{r,s,k} dz[n,p,q,k] w[k,r,s,c]    one product a phase, see conv_phase.cuh
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n,h,w,c]    m = k, n = (r,s,c), k = (n,p,q), which is split over the GPU
 */
#ifndef GRADUS_CONV_BACKWARD_CUH
#define GRADUS_CONV_BACKWARD_CUH

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/conv_boxes.cuh"
#include "kernels/cuda/gradient_operand.cuh"
#include "kernels/cuda/image_operand.cuh"

/* x[count] = 0 */
template <class E> static __global__ void clear(E *x, int64_t count)
{
    const quad zero = {{0, 0, 0, 0}};
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(x, i, count, zero, false);
}

/* For a phase of dX. */
template <class E>
static inline size_t phase_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K, const conv_phase *f)
{
    conv_cut cut;
    if (cut_dx<E>(exec, g, K, f, &cut))
        return plan_scratch(&cut.plan);
    return gemm_scratch<E>(exec, g->n * f->rows * f->columns, g->c, (int64_t)f->taps_r * f->taps_s * K);
}

template <class E> static inline size_t conv_dx_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    size_t bytes = 0;
    for (int i = 0; i < phases_along(g->r, g->stride_h); i++)
        for (int j = 0; j < phases_along(g->s, g->stride_w); j++) {
            const conv_phase f = conv_phase_of(g, i, j);
            if (f.rows > 0 && f.columns > 0)
                bytes = larger(bytes, phase_scratch<E>(exec, g, K, &f));
        }
    return bytes;
}

template <class E>
static void phase_dx(const gr_exec *exec, const phase_result<E> &to, const plain_gradient<E> &dz, const E *w,
                     const gr_geometry *g, int64_t K, const conv_phase *f)
{
    conv_cut cut;
    if constexpr (tiles<E>::WGMMA)
        if (cut_dx<E>(exec, g, K, f, &cut))
            return dx_boxes(exec, dz.dz, w, to, g, K, f, &cut);
    gemm(exec, gradient_taps(dz, g->n, f), filter_taps(w, g, K, f), to, g->n * f->rows * f->columns, g->c,
         (int64_t)f->taps_r * f->taps_s * K);
}

/* dx[N,H,W,C], w[K,R,S,C] */
template <class E>
static void conv_dx(const gr_exec *exec, E *dx, const plain_gradient<E> &dz, const E *w, const gr_geometry *g,
                    int64_t K, bool accumulate)
{
    const int64_t count = g->n * g->h * g->w * g->c;
    if (!accumulate && (g->stride_h > g->r || g->stride_w > g->s))
        GR_LAUNCH((clear<E>), quad_blocks(count), QUAD_THREADS, 0, exec->queue, dx, count);
    for (int i = 0; i < phases_along(g->r, g->stride_h); i++)
        for (int j = 0; j < phases_along(g->s, g->stride_w); j++) {
            const conv_phase f = conv_phase_of(g, i, j);
            if (f.rows > 0 && f.columns > 0)
                phase_dx(exec, phase_pixels(dx, g, &f, accumulate), dz, w, g, K, &f);
        }
}

template <class E> static inline size_t conv_dw_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    conv_cut cut;
    if (cut_dw<E>(exec, g, K, &cut))
        return plan_scratch(&cut.plan);
    return gemm_scratch<E>(exec, K, g->r * g->s * g->c, g->n * g->p * g->q);
}

/* dw[K,R,S,C], x[N,H,W,C] */
template <class E>
static void conv_dw(const gr_exec *exec, float *dw, const plain_gradient<E> &dz, const E *x, const gr_geometry *g,
                    int64_t K, bool accumulate)
{
    const int64_t taps = g->r * g->s * g->c;
    const gradient_result<float> to = {dw, taps, accumulate};
    conv_cut cut;
    if constexpr (tiles<E>::WGMMA)
        if (cut_dw<E>(exec, g, K, &cut))
            return dw_boxes(exec, dz.dz, x, to, g, K, &cut);
    gemm(exec, gradient_filters(dz, g->n), image_taps(x, g), to, K, taps, g->n * g->p * g->q);
}

#endif
