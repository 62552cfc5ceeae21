/*
 * conv_boxes.cuh - the three products of a convolution of halves in boxes (boxes.cuh), where the GPU has wgmma, images
 * and filters have whole blocks of channels, and it is faster than by other tiles.
 *
 * Each product has a cut_..., which says whether it goes by boxes and how it is cut, for its scratch and its launch.
 */
#ifndef GRADUS_CONV_BOXES_CUH
#define GRADUS_CONV_BOXES_CUH

#include "kernels/cuda/gemm_phases.cuh"
#include "kernels/cuda/gemm_taps.cuh"
#include "kernels/cuda/patch_stream.cuh"

/* A product's cut into boxes. */
typedef struct {
    boxes positions; /* of a tile's lines, or of a step */
    bool patches;    /* lines come in patches */
    radices depths;  /* by which a step's number has its digits */
    gemm_plan plan;
} conv_cut;

/* What a product whose lines are positions sees of its images. */
typedef struct {
    int64_t images, rows, columns; /* positions */
    int64_t taps_r, taps_s, channels;
    bool strides;
} conv_view;

template <class E> static inline bool boxes_fit(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    return tiles<E>::WGMMA && exec->wgmma && g->c % BOX == 0 && K % BOX == 0 && g->stride_h <= BOX_STRIDE &&
           g->stride_w <= BOX_STRIDE;
}

/* Whether there are several taps, and so many positions in boxes that 64 are 8 in each of 8 rows of one image. */
static inline bool patches_fit(const conv_view *v, const boxes *b)
{
    const int64_t pixels = b->images * (b->rows + v->taps_r - 1) * (b->columns + v->taps_s - 1);
    return !v->strides && v->taps_r * v->taps_s > 1 && b->columns == PATCH_SIDE && b->rows >= PATCH_SIDE &&
           pixels <= PATCH_MOST;
}

template <class E> static inline bool cut_by_position(const gr_exec *exec, const conv_view *v, int64_t n, conv_cut *cut)
{
    const int64_t m = v->images * v->rows * v->columns, k = v->taps_r * v->taps_s * v->channels;
    cut->positions = boxes_of(v->rows, v->columns, BOX_LINES, PATCH_SIDE);
    cut->patches = patches_fit(v, &cut->positions);
    if (!cut->patches)
        cut->positions = boxes_of(v->rows, v->columns, BOX_LINES, BOX_LINES);
    const int64_t lines = boxes_count(&cut->positions, v->images) * BOX_LINES;
    cut->depths = (radices){(int)v->taps_r, (int)v->taps_s};
    return lines <= INT32_MAX && cut_boxes<E>(exec, m, lines, n, k, &cut->plan);
}

template <class E> static inline bool cut_forward(const gr_exec *exec, const gr_geometry *g, int64_t K, conv_cut *cut)
{
    const conv_view v = {g->n, g->p, g->q, g->r, g->s, g->c, g->stride_h > 1 || g->stride_w > 1};
    return boxes_fit<E>(exec, g, K) && cut_by_position<E>(exec, &v, K, cut);
}

/* Of a phase of dX, whose positions are pixels. The other phases of its launch are cut as it is. */
template <class E>
static inline bool cut_dx(const gr_exec *exec, const gr_geometry *g, int64_t K, const conv_phase *f, conv_cut *cut)
{
    const conv_view v = {g->n, f->rows, f->columns, f->taps_r, f->taps_s, K, false};
    return boxes_fit<E>(exec, g, K) && cut_by_position<E>(exec, &v, g->c, cut);
}

template <class E> static inline bool cut_dw(const gr_exec *exec, const gr_geometry *g, int64_t K, conv_cut *cut)
{
    const bool taps = g->r == tap_patches<E>::TAPS && g->s == tap_patches<E>::TAPS && g->stride_h * g->stride_w == 1;
    if (!boxes_fit<E>(exec, g, K) || !taps || g->p % PATCH_SIDE || g->q % PATCH_SIDE)
        return false;
    cut->positions = boxes_of(g->p, g->q, BOX, PATCH_SIDE);
    cut->depths = cut->positions.count;
    return cut_taps<E>(exec, K, g->c, boxes_count(&cut->positions, g->n), &cut->plan);
}

/* x[n][h][w][c] in patches. */
template <class E>
static image_patches<E> patches_of(const E *x, int64_t n, int64_t h, int64_t w, int64_t c, const conv_cut *cut,
                                   int turn)
{
    const boxes *b = &cut->positions;
    const int down = b->rows + cut->depths.middle - 1, across = b->columns + cut->depths.low - 1;
    return image_patches<E>{map_images(x, n, h, w, c, b->images, down, across, 1, 1), *b,
                            b->images * down * across * BOX * (int)sizeof(E),         across,
                            (b->rows > PATCH_SIDE ? PATCH_SIDE : down) * across,      turn};
}

/* By the tiles of its shape. */
template <class E, class A>
static void forward_shaped(const gr_exec *exec, const A &a, const E *w, const result<E> &y, const gr_geometry *g,
                           int64_t K, const conv_cut *cut)
{
    typedef box_tiles<E> OF;
    const tap_walk taps = {(int)(g->s * g->c), (int)g->c};
    const box_plan p = {cut->plan, cut->depths, {-(int)g->pad_top, -(int)g->pad_left, 0, 0}, NULL, NULL};
    const auto filters = [&](int lines) { return filter_boxes<E>{map_filters(w, g, K, lines), taps}; };
    if constexpr (A::FOR_ALL_TAPS)
        if (streams(exec, &cut->plan, cut->depths))
            return stream_launch(exec, a, filters(BOX), y, p);
    if (cut->plan.shape == WIDE)
        boxes_launch<typename OF::wide>(exec, a, filters(OF::wide::N), y, p);
    else
        boxes_launch<typename OF::tall>(exec, a, filters(OF::tall::N), y, p);
}

template <class E>
static void forward_boxes(const gr_exec *exec, const E *x, const E *w, const result<E> &y, const gr_geometry *g,
                          int64_t K, const conv_cut *cut)
{
    const boxes *p = &cut->positions;
    const int stride_h = (int)g->stride_h, stride_w = (int)g->stride_w;
    if (cut->patches)
        return forward_shaped(exec, patches_of(x, g->n, g->h, g->w, g->c, cut, 1), w, y, g, K, cut);
    const gr_tensor_map map = map_images(x, g->n, g->h, g->w, g->c, p->images, p->rows, p->columns, stride_h, stride_w);
    forward_shaped(exec, image_boxes<E>{map, *p, stride_h, stride_w, 1}, w, y, g, K, cut);
}

/* By the tiles of the phases' shape. */
template <class E, class A, class BEGIN_OF, class TO_OF>
static void dx_shaped(const gr_exec *exec, const A &a, const channel_boxes<E> &b, const BEGIN_OF &begin_of,
                      const TO_OF &to_of, const phases_cut *cut, const parts_of_dw &dw)
{
    typedef box_tiles<E> OF;
    const conv_phase *f = cut->phase;
    const radices taps = {f->taps_r, f->taps_s};
    if constexpr (A::FOR_ALL_TAPS)
        if (cut->count == 1 && streams(exec, cut->plan, taps)) { /* its blocks have no time for dw: all end together */
            join_launch(exec, dw);
            return stream_launch(exec, a, b, to_of(f), box_plan{cut->plan[0], taps, begin_of(f), NULL, NULL});
        }
    if (cut->plan[0].shape == WIDE)
        box_phases_launch<typename OF::wide>(exec, a, b, begin_of, to_of, cut, dw);
    else
        box_phases_launch<typename OF::tall>(exec, a, b, begin_of, to_of, cut, dw);
}

/* Phases of dX. seen: how dz is brought, the same for all. */
template <class E, class TO_OF>
static void dx_boxes(const gr_exec *exec, const E *dz, const E *w, const TO_OF &to_of, const gr_geometry *g, int64_t K,
                     const conv_cut *seen, const phases_cut *cut, const parts_of_dw &dw)
{
    const boxes *p = &seen->positions;
    const int channels = (int)g->c, row = (int)g->s * channels, across = p->columns + seen->depths.low - 1;
    const channel_boxes<E> b = {map_filters(w, g, K, BOX), {(int)g->stride_h * row, (int)g->stride_w * channels}};
    const auto begin_of = [&](const conv_phase *f) {
        const int more_r = seen->patches ? f->taps_r - 1 : 0, more_s = seen->patches ? f->taps_s - 1 : 0;
        return box_begin{f->reach_h - more_r, f->reach_w - more_s, more_r * across + more_s,
                         f->first_r * row + f->first_s * channels};
    };
    if (seen->patches)
        return dx_shaped(exec, patches_of(dz, g->n, g->p, g->q, K, seen, -1), b, begin_of, to_of, cut, dw);
    const gr_tensor_map map = map_images(dz, g->n, g->p, g->q, K, p->images, p->rows, p->columns, 1, 1);
    dx_shaped(exec, image_boxes<E>{map, *p, 1, 1, -1}, b, begin_of, to_of, cut, dw);
}

template <class E, class TO>
static parts<TO> dw_boxes(const gr_exec *exec, const E *dz, const E *x, const TO &dw, const gr_geometry *g, int64_t K,
                          const conv_cut *cut)
{
    const boxes *p = &cut->positions;
    const int side = tap_patches<E>::ACROSS, bytes = side * side * BOX * (int)sizeof(E);
    const gradient_boxes<E> a = {map_images(dz, g->n, g->p, g->q, K, p->images, p->rows, p->columns, 1, 1), *p};
    const tap_patches<E> b = {map_images(x, g->n, g->h, g->w, g->c, 1, side, side, 1, 1), *p, (int)g->pad_top,
                              (int)g->pad_left, bytes};
    return taps_launch(exec, a, b, dw, cut->plan, cut->depths, (int)g->c);
}

#endif
