/*
 * winograd_reads.h - what a tile reads, and the sums in front of Winograd's products: B d B' of 6x6 pixels, A' dz A of
 * 4x4.
 */
#ifndef GRADUS_CPU_WINOGRAD_READS_H
#define GRADUS_CPU_WINOGRAD_READS_H

#include "kernels/cpu/winograd.h"

/* The pixels that a tile reads or writes: where the first one lies or would lie, and which are in the image. */
typedef struct {
    const float *dy, *y;
    int64_t first, row, pixel; /* floats to the first pixel; from row to row, from pixel to pixel */
    span rows, cols;
    bool inside; /* all of them */
} winograd_window;

INLINE winograd_window winograd_window_of(const conv_dz *from, winograd_at at, int64_t side)
{
    winograd_window w = {.dy = from->dy,
                         .y = from->y,
                         .first = ((at.n * from->p + at.row) * from->q + at.col) * from->k,
                         .row = from->q * from->k,
                         .pixel = from->k,
                         .rows = {max64(0, -at.row), min64(side, from->p - at.row)},
                         .cols = {max64(0, -at.col), min64(side, from->q - at.col)}};
    w.inside = w.rows.end - w.rows.begin == side && w.cols.end - w.cols.begin == side;
    return w;
}

/*
 * Channels [c, c + width) of the pixels of a window that lie in the image to seen[side][side][VL], which holds zeros
 * elsewhere: dy where y > 0, if there is y.
 */
INLINE void winograd_gather(const winograd_window *w, int64_t side, int64_t c, int64_t width, float *seen)
{
    for (int64_t i = w->rows.begin; i < w->rows.end; i++)
        for (int64_t j = w->cols.begin; j < w->cols.end; j++) {
            const int64_t at = w->first + i * w->row + j * w->pixel + c;
            const vec v = vec_load_n(w->dy + at, width);
            vec_store(seen + (i * side + j) * VL, w->y ? vec_gate(vec_load_n(w->y + at, width), v) : v);
        }
}

/* Whether all of it can be read where it lies: nearly always, but for images' borders. */
INLINE bool winograd_direct(const winograd_window *w)
{
    return w->inside && !w->y;
}

/* B d B' of pixels d[6][6], at distances of row and pixel floats; v[place] a vector every `step` floats. */
INLINE void winograd_input(const float *pixels, int64_t row, int64_t pixel, int64_t width, float *v, int64_t step)
{
    vec e[ALONG][ALONG]; /* [column][place] */
    UNROLL
    for (int j = 0; j < ALONG; j++) {
        vec d[ALONG];
        UNROLL
        for (int i = 0; i < ALONG; i++)
            d[i] = vec_load_n(pixels + i * row + j * pixel, width);
        pixels_to_places(d, e[j]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        vec d[ALONG], places[ALONG];
        UNROLL
        for (int j = 0; j < ALONG; j++)
            d[j] = e[j][i];
        pixels_to_places(d, places);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            vec_store_n(v + (ALONG * i + j) * step, places[j], width);
    }
}

/*
 * Asks for the cache line that begins at a channel of the next window: of its last SIDE x SIDE pixels, as those before
 * them were in windows to the left and above. The processor does not foresee them where images come from memory: a tile
 * jumps from row to row, and from pixel to pixel before it goes along the channels.
 */
INLINE void winograd_ask(const winograd_window *next, int64_t side, int64_t c)
{
    if (c % LINE != 0)
        return;
    const int64_t last = next->first + c + (side - SIDE) * (next->row + next->pixel);
    UNROLL
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const int64_t at = last + i * next->row + j * next->pixel;
            prefetch(next->dy + at);
            if (next->y)
                prefetch(next->y + at);
        }
}

/* B d B' of the pixels of a window, to v[place][channel]; asks for those of the next. */
INLINE void winograd_inputs(const winograd_window *w, const winograd_window *next, int64_t channels, float *v,
                            int64_t step)
{
    float seen[PLACES * VL] __attribute__((aligned(64))) = {0};
    for (int64_t c = 0; c < channels; c += VL) {
        const int64_t width = min64(VL, channels - c);
        const bool direct = winograd_direct(w);
        winograd_ask(next, ALONG, c);
        if (!direct)
            winograd_gather(w, ALONG, c, width, seen);
        const float *pixels = direct ? w->dy + w->first + c : seen;
        const int64_t row = direct ? w->row : ALONG * VL, pixel = direct ? w->pixel : VL;
        if (width == VL) /* nearly always: a constant spares the masks */
            winograd_input(pixels, row, pixel, VL, v + c, step);
        else
            winograd_input(pixels, row, pixel, width, v + c, step);
    }
}

/*
 * A' dz A of pixels dz[4][4], at distances of row and pixel floats; z[place] a vector every `step` floats. Returns
 * their sum.
 */
INLINE vec winograd_output(const float *dz, int64_t row, int64_t pixel, float *z, int64_t step)
{
    vec e[ALONG][ALONG], sum = {0}; /* [column][place] */
    UNROLL
    for (int j = 0; j < SIDE; j++) {
        vec d[SIDE];
        UNROLL
        for (int i = 0; i < SIDE; i++) {
            d[i] = vec_load(dz + i * row + j * pixel);
            sum += d[i];
        }
        results_to_places(d, e[j]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        vec d[SIDE], places[ALONG];
        UNROLL
        for (int j = 0; j < SIDE; j++)
            d[j] = e[j][i];
        results_to_places(d, places);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            vec_store(z + (ALONG * i + j) * step, places[j]);
    }
    return sum;
}

/*
 * A' dz A of channels [k, k + width) of a window's pixels; zeros up to a whole vector, also where width is 0. Asks for
 * those of the next. seen: room for the window, zeros where it lies outside of the image. Returns the pixels' sum.
 */
INLINE vec winograd_output_at(const winograd_window *w, const winograd_window *next, int64_t k, int64_t width,
                              float *seen, float *z, int64_t step)
{
    winograd_ask(next, SIDE, k);
    if (winograd_direct(w) && width == VL)
        return winograd_output(w->dy + w->first + k, w->row, w->pixel, z, step);
    winograd_gather(w, SIDE, k, width, seen);
    return winograd_output(seen, SIDE * VL, VL, z, step);
}

/* The same of all of them, to z[place][channel]. */
INLINE void winograd_outputs(const winograd_window *w, const winograd_window *next, int64_t channels, float *z,
                             int64_t step)
{
    float seen[SIDE * SIDE * VL] __attribute__((aligned(64))) = {0};
    for (int64_t k = 0; k < channels; k += VL)
        winograd_output_at(w, next, k, min64(VL, channels - k), seen, z + k, step);
}

#endif
