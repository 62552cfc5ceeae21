/*
 * winograd_results.h - what becomes of a tile's products: A m A', 4x4 pixels of the result, written as they are or, of
 * a pooled convolution, as the best of each window of 2x2.
 */
#ifndef GRADUS_CPU_WINOGRAD_RESULTS_H
#define GRADUS_CPU_WINOGRAD_RESULTS_H

#include "kernels/cpu/pooling.h"
#include "kernels/cpu/winograd.h"

/* A column of a tile's places, which lie `step` floats apart row by row. */
INLINE void winograd_column(const float *products, int64_t step, vec d[ALONG])
{
    UNROLL
    for (int i = 0; i < ALONG; i++)
        d[i] = vec_load(products + ALONG * i * step);
}

/* A vector of channels of a tile, half of the way: e[column of places][row of pixels]. */
INLINE void winograd_columns(const float *products, int64_t step, vec e[ALONG][SIDE])
{
    UNROLL
    for (int j = 0; j < ALONG; j++) {
        vec d[ALONG];
        winograd_column(products + j * step, step, d);
        places_to_pixels(d, e[j]);
    }
}

/* The rest of it: a row of pixels. */
INLINE void winograd_row(vec e[ALONG][SIDE], int row, vec y[SIDE])
{
    vec d[ALONG];
    UNROLL
    for (int j = 0; j < ALONG; j++)
        d[j] = e[j][row];
    places_to_pixels(d, y);
}

/* One result pixel, channels [c, c + width), where it lies in the image. */
INLINE void winograd_write_pixel(const winograd_sweep *s, winograd_at at, int64_t i, int64_t j, int64_t c,
                                 int64_t width, const bool inside, vec v)
{
    const int64_t row = at.row + i, col = at.col + j;
    if (!inside && (row < 0 || row >= s->p || col < 0 || col >= s->q))
        return;
    float *y = s->out + ((at.n * s->p + row) * s->q + col) * s->channels + c;
    if (s->bias)
        v += vec_load(s->bias + c);
    if (s->accumulate)
        v += vec_load_n(y, width);
    if (s->relu)
        v = vec_relu(v);
    if (s->stream)
        vec_stream(y, v);
    else
        vec_store_n(y, v, width);
}

/* Channels [c, c + width) of a tile from its products, places `step` floats apart. */
INLINE void winograd_write_tile(const winograd_sweep *s, winograd_at at, int64_t c, int64_t width, const bool inside,
                                const float *products, int64_t step)
{
    vec e[ALONG][SIDE];
    winograd_columns(products, step, e);
    UNROLL
    for (int i = 0; i < SIDE; i++) {
        vec y[SIDE];
        winograd_row(e, i, y);
        UNROLL
        for (int j = 0; j < SIDE; j++)
            winograd_write_pixel(s, at, i, j, c, width, inside, y[j]);
    }
}

/* The same of the transposed sums: all pixels of an image. */
INLINE void winograd_write_image(const winograd_sweep *s, winograd_at at, int64_t c, int64_t width, const bool inside,
                                 const float *products, int64_t step)
{
    vec e[ALONG][ALONG];
    UNROLL
    for (int j = 0; j < ALONG; j++) {
        vec d[ALONG];
        winograd_column(products + j * step, step, d);
        places_to_inputs(d, e[j]);
    }
    UNROLL
    for (int i = 0; i < ALONG; i++) {
        vec d[ALONG], x[ALONG];
        UNROLL
        for (int j = 0; j < ALONG; j++)
            d[j] = e[j][i];
        places_to_inputs(d, x);
        UNROLL
        for (int j = 0; j < ALONG; j++)
            winograd_write_pixel(s, at, i, j, c, width, inside, x[j]);
    }
}

/*
 * The best of a window, of which up and low are the two rows. ReLU: where nothing beats 0, nobody has won. Results that
 * are equal but for rounding, as on a plain patch, may have another winner here than the first of them.
 */
INLINE void winograd_write_window(const winograd_sweep *s, winograd_at at, int64_t i, int64_t j, int64_t c,
                                  int64_t width, const vec *up, const vec *low)
{
    const vec bias = vec_load(s->bias + c);
    const int64_t to = ((at.n * (s->p / 2) + at.row / 2 + i) * (s->q / 2) + at.col / 2 + j) * s->channels + c;
    best b = {{0}, ivec_all(NOWHERE)};
    compete(&b, up[0] + bias, 0);
    compete(&b, up[1] + bias, 1);
    compete(&b, low[0] + bias, 2);
    compete(&b, low[1] + bias, 3);
    write_best(&b, s->out + to, s->argmax ? s->argmax + to : NULL, width);
}

/* As winograd_write_tile, of the windows of a tile. Those of s->p and s->q, which are even, are whole. */
INLINE void winograd_write_windows(const winograd_sweep *s, winograd_at at, int64_t c, int64_t width, const bool inside,
                                   const float *products, int64_t step)
{
    vec e[ALONG][SIDE];
    winograd_columns(products, step, e);
    UNROLL
    for (int i = 0; i < SIDE; i += 2) {
        vec up[SIDE], low[SIDE];
        winograd_row(e, i, up);
        winograd_row(e, i + 1, low);
        UNROLL
        for (int j = 0; j < SIDE; j += 2)
            if (inside || (at.row + i < s->p && at.col + j < s->q))
                winograd_write_window(s, at, i / 2, j / 2, c, width, up + j, low + j);
    }
}

#endif
