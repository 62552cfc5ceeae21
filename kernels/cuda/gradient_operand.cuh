/*
 * gradient_operand.cuh - dz, the gradient of a convolution's result before its ReLU, as an operand of a product.
 *
 *   gradient_filters(dz, n)      lines are filters k, depths are positions (n*P + p)*Q + q: dW
 *   gradient_taps(dz, n, &f)     lines are pixels of x, depths are (i*taps_s + j)*K + k, the taps that reach the pixel:
 *                                dX
 *
 * Here of a gradient that is in memory; pooled_gradient.cuh has those of one that is not.
 */
#ifndef GRADUS_GRADIENT_OPERAND_CUH
#define GRADUS_GRADIENT_OPERAND_CUH

#include "kernels/cuda/conv_phase.cuh"
#include "kernels/cuda/matrix_operand.cuh"

template <class E> struct plain_gradient {
    typedef E element;
    const E *dz; /* [N,P,Q,K] */
    int p, q, k;
};

template <class E> static inline matrix_by_depth<E> gradient_filters(const plain_gradient<E> &dz, int64_t n)
{
    return by_depth(dz.dz, dz.k, n * dz.p * dz.q);
}

template <class E> struct gradient_by_tap {
    enum { LINES_SIDE_BY_SIDE = 0, HEAVY = 0 };
    typedef E element;
    plain_gradient<E> dz;
    int64_t pixels; /* of the phase, in all images */
    conv_phase phase;
    walk taps;
    typedef struct {
        int64_t at;
        int p, q;
    } line_part;               /* phase_position, and where dz has it */
    typedef walker depth_part; /* tap and filter */
};

template <class E>
static inline gradient_by_tap<E> gradient_taps(const plain_gradient<E> &dz, int64_t n, const conv_phase *f)
{
    const pitches back = {-(int64_t)dz.q * dz.k, -dz.k, 1};
    return gradient_by_tap<E>{dz, n * f->rows * f->columns, *f, walk_of((radices){f->taps_s, dz.k}, back, DEPTH<E>)};
}

template <class E> static __host__ __device__ inline bool is_whole(const gradient_by_tap<E> &o)
{
    return o.dz.k % piece<E>::COUNT == 0;
}

template <class E>
GR_DEVICE typename gradient_by_tap<E>::line_part operand_line(const gradient_by_tap<E> *o, int64_t line)
{
    const digits first = phase_position(&o->phase, line, o->pixels);
    const int64_t at = (((int64_t)first.high * o->dz.p + first.middle) * o->dz.q + first.low) * o->dz.k;
    return {at, first.middle, first.low};
}
template <class E> GR_DEVICE walker operand_depth(const gradient_by_tap<E> *o, int64_t depth)
{
    return walker_at(&o->taps, depth);
}
template <class E> GR_DEVICE void operand_step(const gradient_by_tap<E> *o, walker *tap)
{
    walker_step(&o->taps, tap);
}
/* Where dz's element lies whose tap reaches the pixel; false: there is none. */
template <class E>
GR_DEVICE bool gradient_at(const gradient_by_tap<E> *o, const typename gradient_by_tap<E>::line_part &pixel,
                           const walker &tap, int64_t *at)
{
    *at = pixel.at + tap.at;
    return phase_reaches(&o->phase, pixel.p, pixel.q, tap.d, {o->dz.p, o->dz.q});
}
template <class E>
GR_DEVICE const E *operand_place(const gradient_by_tap<E> *o, const typename gradient_by_tap<E>::line_part &pixel,
                                 const walker &tap, bool *inside)
{
    int64_t at;
    *inside = gradient_at(o, pixel, tap, &at);
    return o->dz.dz + at;
}
template <class E>
GR_DEVICE piece<E> operand_piece(const gradient_by_tap<E> *o, const typename gradient_by_tap<E>::line_part &pixel,
                                 walker tap)
{
    if (is_whole(*o))
        return piece_in_place(o, pixel, tap);
    piece<E> v = {};
    int64_t at;
#pragma unroll
    for (int j = 0; j < piece<E>::COUNT; j++, walker_next(&o->taps, &tap)) {
        if (gradient_at(o, pixel, tap, &at))
            v.at[j] = o->dz.dz[at];
    }
    return v;
}

#endif
