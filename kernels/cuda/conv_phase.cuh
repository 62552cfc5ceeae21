/*
 * conv_phase.cuh - dX of a convolution with strides, as plain products.
 *
 * Pixel h receives from position p by tap r where h = p*stride + r - pad. So the pixels h = stride*h' + first_h of one
 * remainder are reached by the taps r = first_r + stride*i of one remainder alone, from the positions
 *   p = h' + reach - i      first_r = (first_h + pad) mod stride      reach = (first_h + pad) div stride
 * and likewise along the columns: without gaps, as with stride 1. Each pair of remainders, a phase, is one product
 *   m = (n, h', w')   n = c   k = (i, j, k):   a = dz[n, p, q, k]   b = w[k, r, s, c]
 * With stride 1 there is one phase. Where the stride is longer than the filter, some phases have no taps, and their
 * pixels get 0; where an image is shorter than the stride, some have no pixels, and are no product.
 */
#ifndef GRADUS_CONV_PHASE_CUH
#define GRADUS_CONV_PHASE_CUH

#include "kernels/cuda/digits.cuh"
#include "kernels/cuda/operand.cuh"
#include "kernels/cuda/result.cuh"

typedef struct {
    int rows, columns;    /* of pixels h', w' */
    int first_h, first_w; /* the first pixel; the others follow in strides */
    int first_r, first_s; /* the first tap; the others follow in strides */
    int taps_r, taps_s;
    int reach_h, reach_w;
} conv_phase;

/* The phase of the taps first, first + stride, ... along one axis. */
static inline void phase_along(int64_t first, int64_t taps, int64_t size, int64_t stride, int64_t pad, int *first_pixel,
                               int *pixels, int *count, int *reach)
{
    const int64_t pixel = ((first - pad) % stride + stride) % stride;
    *first_pixel = (int)pixel;
    *pixels = pixel < size ? (int)((size - pixel + stride - 1) / stride) : 0;
    *count = (int)((taps - first + stride - 1) / stride);
    *reach = (int)((pixel + pad) / stride);
}

/* Phase number i of those along the rows, j along the columns; one without taps has no row of them. */
static inline conv_phase conv_phase_of(const gr_geometry *g, int i, int j)
{
    conv_phase f;
    f.first_r = i, f.first_s = j;
    phase_along(i, g->r, g->h, g->stride_h, g->pad_top, &f.first_h, &f.rows, &f.taps_r, &f.reach_h);
    phase_along(j, g->s, g->w, g->stride_w, g->pad_left, &f.first_w, &f.columns, &f.taps_s, &f.reach_w);
    if (f.taps_s == 0)
        f.taps_r = 0, f.taps_s = 1;
    return f;
}

/*
 * The position n, p, q whose first tap of the phase reaches the pixel of that line; tap (i, j) is that of (p - i,
 * q - j). Of lines behind the last pixel it is above every position.
 */
GR_DEVICE digits phase_position(const conv_phase *f, int64_t line, int64_t pixels)
{
    const digits pixel = digits_of(line, (radices){f->rows, f->columns});
    const int p = line < pixels ? pixel.middle + f->reach_h : INT32_MIN / 2;
    return {pixel.high, p, pixel.low + f->reach_w};
}

/* Whether the phase has such a tap, which reaches the pixel from a position there is. positions: P and Q. */
GR_DEVICE bool phase_reaches(const conv_phase *f, int p, int q, const digits &tap, radices positions)
{
    const bool position =
        (unsigned)(p - tap.high) < (unsigned)positions.middle && (unsigned)(q - tap.middle) < (unsigned)positions.low;
    return position && tap.high < f->taps_r;
}

/* w[K,R,S,C] as an operand: lines are channels, depths are (i*taps_s + j)*K + k. */
template <class E> struct filter_by_tap {
    enum { LINES_SIDE_BY_SIDE = 1, HEAVY = 0 };
    typedef E element;
    const E *w; /* from the phase's first tap on */
    int c, taps_r;
    walk taps;
    typedef int line_part;     /* the channel */
    typedef walker depth_part; /* tap and filter */
};

template <class E>
static inline filter_by_tap<E> filter_taps(const E *w, const gr_geometry *g, int64_t K, const conv_phase *f)
{
    const pitches apart = {g->stride_h * g->s * g->c, g->stride_w * g->c, g->r * g->s * g->c};
    const E *first = w + (f->first_r * g->s + f->first_s) * g->c;
    return filter_by_tap<E>{first, (int)g->c, f->taps_r, walk_of((radices){f->taps_s, (int)K}, apart, DEPTH<E>)};
}

template <class E> static __host__ __device__ inline bool is_whole(const filter_by_tap<E> &o)
{
    return o.c % piece<E>::COUNT == 0;
}

template <class E> GR_DEVICE int operand_line(const filter_by_tap<E> *, int64_t line)
{
    return (int)line;
}
template <class E> GR_DEVICE walker operand_depth(const filter_by_tap<E> *o, int64_t depth)
{
    return walker_at(&o->taps, depth);
}
template <class E> GR_DEVICE void operand_step(const filter_by_tap<E> *o, walker *tap)
{
    walker_step(&o->taps, tap);
}
template <class E>
GR_DEVICE const E *operand_place(const filter_by_tap<E> *o, int channel, const walker &tap, bool *inside)
{
    *inside = tap.d.high < o->taps_r && channel < o->c;
    return o->w + (tap.at + channel);
}
template <class E> GR_DEVICE piece<E> operand_piece(const filter_by_tap<E> *o, int channel, const walker &tap)
{
    bool inside;
    const E *from = operand_place(o, channel, tap, &inside);
    return piece_inside(from, inside ? o->c - channel : 0, is_whole(*o));
}

/* A phase's rows (n, h', w') as pixels of dX[N,H,W,C]. */
template <class E> struct phase_result {
    gradient_result<E> dx; /* rows are all pixels */
    int h, w, stride_h, stride_w;
    conv_phase phase;
};

template <class E>
static inline phase_result<E> phase_pixels(E *dx, const gr_geometry *g, const conv_phase *f, bool accumulate)
{
    const gradient_result<E> all = {dx, g->c, accumulate};
    return phase_result<E>{all, (int)g->h, (int)g->w, (int)g->stride_h, (int)g->stride_w, *f};
}

/* That spot in dX. */
template <class E> GR_DEVICE spot pixel_spot(const phase_result<E> *to, spot at)
{
    const conv_phase *f = &to->phase;
    const digits pixel = digits_of(at.row, (radices){f->rows, f->columns});
    const int h = pixel.middle * to->stride_h + f->first_h, w = pixel.low * to->stride_w + f->first_w;
    at.row = ((int64_t)pixel.high * to->h + h) * to->w + w;
    return at;
}

template <class E> GR_DEVICE quad recall(const phase_result<E> *to, const spot &at)
{
    return recall(&to->dx, pixel_spot(to, at));
}

template <class E> GR_DEVICE void finish(const phase_result<E> *to, const spot &at, const quad &add, quad v)
{
    finish(&to->dx, pixel_spot(to, at), add, v);
}

#endif
