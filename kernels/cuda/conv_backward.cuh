/*
 * conv_backward.cuh - dX and dW of a convolution, for any dz that has gradient_taps and gradient_filters: the products
 * and their scratch.
 *
 *   dX[n,h,w,c] = sum_{r,s,k} dz[n,p,q,k] w[k,r,s,c]    one product a phase, see conv_phase.cuh
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n,h,w,c]    m = k, n = (r,s,c), k = (n,p,q), which is split over the GPU
 */
#ifndef GRADUS_CONV_BACKWARD_CUH
#define GRADUS_CONV_BACKWARD_CUH

#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/gemm.cuh"
#include "kernels/cuda/gradient_operand.cuh"
#include "kernels/cuda/image_operand.cuh"

/* x[count] = 0 */
template <class E> static __global__ void clear(E *x, int64_t count)
{
    const quad zero = {{0, 0, 0, 0}};
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(x, i, count, zero, false);
}

template <class E> static inline size_t conv_dx_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    size_t bytes = 0;
    for (int i = 0; i < phases_along(g->r, g->stride_h); i++)
        for (int j = 0; j < phases_along(g->s, g->stride_w); j++) {
            const conv_phase f = conv_phase_of(g, i, j);
            const int64_t pixels = g->n * f.rows * f.columns;
            if (pixels > 0)
                bytes = larger(bytes, gemm_scratch<E>(exec, pixels, g->c, (int64_t)f.taps_r * f.taps_s * K));
        }
    return bytes;
}

/* dx[N,H,W,C], w[K,R,S,C] */
template <class SOURCE, class E = typename SOURCE::element>
static void conv_dx(const gr_exec *exec, E *dx, const SOURCE &dz, const E *w, const gr_geometry *g, int64_t K,
                    bool accumulate)
{
    const int64_t count = g->n * g->h * g->w * g->c;
    if (!accumulate && (g->stride_h > g->r || g->stride_w > g->s))
        GR_LAUNCH((clear<E>), quad_blocks(count), QUAD_THREADS, 0, exec->queue, dx, count);
    for (int i = 0; i < phases_along(g->r, g->stride_h); i++)
        for (int j = 0; j < phases_along(g->s, g->stride_w); j++) {
            const conv_phase f = conv_phase_of(g, i, j);
            const int64_t pixels = g->n * f.rows * f.columns;
            if (pixels == 0)
                continue;
            const phase_result<E> to = phase_pixels(dx, g, &f, accumulate);
            const int64_t depth = (int64_t)f.taps_r * f.taps_s * K;
            gemm(exec, gradient_taps(dz, g->n, &f), filter_taps(w, g, K, &f), to, pixels, g->c, depth);
        }
}

template <class E> static inline size_t conv_dw_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    return gemm_scratch<E>(exec, K, g->r * g->s * g->c, g->n * g->p * g->q);
}

/* dw[K,R,S,C], x[N,H,W,C] */
template <class SOURCE, class E = typename SOURCE::element>
static void conv_dw(const gr_exec *exec, float *dw, const SOURCE &dz, const E *x, const gr_geometry *g, int64_t K,
                    bool accumulate)
{
    const int64_t taps = g->r * g->s * g->c;
    const gradient_result<float> to = {dw, taps, accumulate};
    gemm(exec, gradient_filters(dz, g->n), image_taps(x, g), to, K, taps, g->n * g->p * g->q);
}

#endif
