/*
 * conv_backward.cu - dX and dW of a convolution: the products and their scratch.
 *
 *   dX[n,h,w,c] = sum_{r,s,k} dz[n,p,q,k] w[k,r,s,c]    one product a phase, see conv_phase.cuh
 *   dW[k,r,s,c] = sum_{n,p,q} dz[n,p,q,k] x[n,h,w,c]    m = k, n = (r,s,c), k = (n,p,q), which is split over the GPU
 *
 * Launches  dW, then dX: all phases in one, which also adds the parts that dW's blocks have left (gemm_phases.cuh). dW
 *           of few channels adds its parts itself: few_channels.cuh.
 */
#include "kernels/cuda/conv_backward.cuh"

#include "kernels/cuda/conv_boxes.cuh"
#include "kernels/cuda/few_channels.cuh"
#include "kernels/cuda/image_operand.cuh"

/* --- dX ----------------------------------------------------------------------------------------------------------- */

/* How deep a phase is, and its share of the GPU beside the others of a launch, which should end with it. */
static inline int64_t phase_depth(const conv_phase *f, int64_t K)
{
    return (int64_t)f->taps_r * f->taps_s * K;
}
static inline gr_exec phase_share(const gr_exec *exec, int64_t depth, int64_t all)
{
    gr_exec share = *exec;
    share.multiprocessors = all > 0 ? (int)(exec->multiprocessors * depth / all) : 0;
    share.multiprocessors += share.multiprocessors == 0;
    return share;
}

/*
 * Cuts the phases of a launch. The deepest says of what shape their tiles are and, by true, that they go by boxes; seen
 * is its cut then.
 */
template <class E>
static inline bool cut_phases(const gr_exec *exec, const gr_geometry *g, int64_t K, phases_cut *cut, conv_cut *seen)
{
    const conv_phase *deepest = &cut->phase[0];
    int64_t all = 0;
    for (int i = 0; i < cut->count; i++) {
        const conv_phase *f = &cut->phase[i];
        all += phase_depth(f, K);
        deepest = phase_depth(f, K) > phase_depth(deepest, K) ? f : deepest;
    }
    const int64_t depth = phase_depth(deepest, K);
    const gr_exec most = phase_share(exec, depth, all);
    const bool by_boxes = cut_dx<E>(&most, g, K, deepest, seen);
    const int64_t pixels = g->n * deepest->rows * deepest->columns;
    const tile_shape shape = by_boxes ? seen->plan.shape : gemm_cut<E>(&most, pixels, g->c, depth).shape;
    for (int i = 0; i < cut->count; i++) {
        const conv_phase *f = &cut->phase[i];
        const gr_exec share = phase_share(exec, phase_depth(f, K), all);
        const int64_t m = g->n * f->rows * f->columns;
        const int64_t lines = by_boxes ? boxes_count(&seen->positions, g->n) * BOX_LINES : m;
        gemm_choice best = gemm_uncut(&share, lines, g->c, phase_depth(f, K));
        if (by_boxes)
            try_boxes<E>(&best, shape);
        else
            try_shape<E>(&best, shape);
        cut->plan[i] = best.plan;
        cut->plan[i].m = m;
    }
    return by_boxes;
}

/* Calls each with the phases of a launch of dX, for all of them; those without taps are left out of one that adds. */
template <class E, class EACH>
static void each_launch(const gr_exec *exec, const gr_geometry *g, int64_t K, bool accumulate, const EACH &each)
{
    const bool alike = g->h % g->stride_h == 0 && g->w % g->stride_w == 0; /* boxes of all phases */
    const int most = alike || !boxes_fit<E>(exec, g, K) ? MOST_PHASES : 1;
    phases_cut cut = {};
    for (int i = 0; i < g->stride_h * g->stride_w; i++) {
        const conv_phase f = conv_phase_of(g, i / (int)g->stride_w, i % (int)g->stride_w);
        if (f.rows == 0 || f.columns == 0 || (accumulate && f.taps_r == 0))
            continue;
        cut.phase[cut.count++] = f;
        if (cut.count == most)
            each(&cut), cut.count = 0;
    }
    if (cut.count > 0)
        each(&cut);
}

template <class E> static inline size_t conv_dx_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    size_t bytes = 0;
    for (int accumulate = 0; accumulate < 2; accumulate++)
        each_launch<E>(exec, g, K, accumulate != 0, [&](phases_cut *cut) {
            conv_cut seen;
            cut_phases<E>(exec, g, K, cut, &seen);
            bytes = larger(bytes, phases_scratch(cut));
        });
    return bytes;
}

/* In the tiles of gemm.cuh, by those of the phases' shape. */
template <class A_OF, class B_OF, class TO_OF>
static void dx_tiles(const gr_exec *exec, const A_OF &a_of, const B_OF &b_of, const TO_OF &to_of, phases_cut *cut,
                     const parts_of_dw &dw)
{
    typedef decltype(a_of(cut->phase)) A;
    typedef tiles<typename A::element> OF;
    const tile_shape shape = cut->plan[0].shape;
    if (shape == SMALL)
        return gemm_phases_launch<typename OF::small>(exec, a_of, b_of, to_of, cut, dw);
    if constexpr (!COPIED<A>) {
        for (int i = 0; i < cut->count; i++)
            cut_tiles<typename OF::loose>(&cut->plan[i]);
        return gemm_phases_launch<typename OF::loose>(exec, a_of, b_of, to_of, cut, dw);
    } else {
        if constexpr (OF::WGMMA) {
            if (shape == WIDE)
                return gemm_phases_launch<typename OF::wide>(exec, a_of, b_of, to_of, cut, dw);
            if (shape == TALL)
                return gemm_phases_launch<typename OF::tall>(exec, a_of, b_of, to_of, cut, dw);
        }
        gemm_phases_launch<typename OF::square>(exec, a_of, b_of, to_of, cut, dw);
    }
}

template <class E, class TO_OF>
static void dx_gemm(const gr_exec *exec, const plain_gradient<E> &dz, const E *w, const TO_OF &to_of,
                    const gr_geometry *g, int64_t K, phases_cut *cut, const parts_of_dw &dw)
{
    const auto a_of = [&](const conv_phase *f) { return gradient_taps(dz, g->n, f); };
    const auto b_of = [&](const conv_phase *f) { return filter_taps(w, g, K, f); };
    const conv_phase *any = cut->phase;
    if (is_whole(a_of(any)) && is_whole(b_of(any)) && cut->plan[0].pitch == g->c)
        dx_tiles(
            exec, [&](const conv_phase *f) { return whole_of(a_of(f)); },
            [&](const conv_phase *f) { return whole_of(b_of(f)); }, to_of, cut, dw);
    else
        dx_tiles(exec, a_of, b_of, to_of, cut, dw);
}

/* dx, and dW's parts. */
template <class E>
static void conv_dx(const gr_exec *exec, const conv_gradients<E> &of, const plain_gradient<E> &dz, const gr_geometry *g,
                    int64_t K, parts_of_dw dw)
{
    const auto to_of = [&](const conv_phase *f) { return phase_pixels(of.dx, g, f, of.add_dx); };
    each_launch<E>(exec, g, K, of.add_dx, [&](phases_cut *cut) {
        conv_cut seen;
        const bool by_boxes = cut_phases<E>(exec, g, K, cut, &seen);
        if constexpr (tiles<E>::WGMMA)
            if (by_boxes)
                dx_boxes(exec, dz.dz, of.w, to_of, g, K, &seen, cut, dw);
        if (!by_boxes)
            dx_gemm(exec, dz, of.w, to_of, g, K, cut, dw);
        dw.partial = NULL; /* the first launch has added them */
    });
    join_launch(exec, dw);
}

/* --- dW, and both ------------------------------------------------------------------------------------------------- */

template <class E> static inline size_t conv_dw_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    if (has_few_channels<E>(g, K))
        return few_grad_w_scratch<E>(exec, g, K);
    conv_cut cut;
    if (cut_dw<E>(exec, g, K, &cut))
        return plan_scratch(&cut.plan);
    return gemm_scratch<E>(exec, K, g->r * g->s * g->c, g->n * g->p * g->q);
}

template <class E>
static parts_of_dw conv_dw(const gr_exec *exec, const conv_gradients<E> &of, const plain_gradient<E> &dz,
                           const gr_geometry *g, int64_t K)
{
    const int64_t taps = g->r * g->s * g->c;
    const gradient_result<float> to = {of.dw, taps, of.add_dw};
    conv_cut cut;
    if constexpr (tiles<E>::WGMMA)
        if (cut_dw<E>(exec, g, K, &cut))
            return dw_boxes(exec, dz.dz, of.x, to, g, K, &cut);
    return gemm_parts(exec, gradient_filters(dz, g->n), image_taps(of.x, g), to, K, taps, g->n * g->p * g->q);
}

template <class E> size_t conv_backward_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    return scratch_for<char>((int64_t)conv_dw_scratch<E>(exec, g, K)) + conv_dx_scratch<E>(exec, g, K);
}

template <class E>
void conv_backward(const gr_exec *exec, const conv_gradients<E> &of, const plain_gradient<E> &dz, const gr_geometry *g,
                   int64_t K)
{
    parts_of_dw dw = {};
    if (of.dw && has_few_channels<E>(g, K))
        few_grad_w(exec, of.dw, of.x, dz, g, of.add_dw);
    else if (of.dw)
        dw = conv_dw(exec, of, dz, g, K);
    if (!of.dx)
        return join_launch(exec, dw);
    gr_exec rest = *exec;
    take_scratch<char>(&rest, (int64_t)plan_scratch(&dw.plan));
    conv_dx(&rest, of, dz, g, K, dw);
}

#define FOR_FACTORS(E)                                                                                 \
    template size_t conv_backward_scratch<E>(const gr_exec *, const gr_geometry *, int64_t);           \
    template void conv_backward(const gr_exec *, const conv_gradients<E> &, const plain_gradient<E> &, \
                                const gr_geometry *, int64_t);
FOR_FACTORS(float)
FOR_FACTORS(tf32)
FOR_FACTORS(f16)
FOR_FACTORS(bf16)
