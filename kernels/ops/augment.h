/*
 * augment.h - where an augmented pixel is read and with which weights, for every kernel the same. All of it is
 * integers, so that a level has the same bits on every device: coordinates are multiples of 2^-32, between the centres
 * of two pixels lie 2^12 steps (bilinear) or 2^16 (bicubic), a cubic's weights are multiples of 2^-20. Only
 * bicubic-resize goes another way: it does what PIL's Image.resize does to u8 pictures, to the bit.
 */
#ifndef GRADUS_AUGMENT_H
#define GRADUS_AUGMENT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define GR__ANYWHERE static __host__ __device__ __forceinline__
#else
#define GR__ANYWHERE static inline
#endif

enum {
    GR__COORDINATE = 32, /* binary places of a coordinate */
    GR__LINEAR = 12,     /* of the way from one pixel's centre to the next, bilinear and bicubic */
    GR__CUBIC = 16,
    GR__WEIGHT = 20, /* of a cubic's weights */
    GR__WEIGHT_ONE = 1 << GR__WEIGHT,
    GR__RESIZE = 22, /* of the weights of bicubic-resize: PIL's PRECISION_BITS */
    GR__TAPS = 4,    /* pixels that a cubic reads along an axis */
    GR__MAP_ROW = 6,
    GR__MAP_BOX = 12 /* where the second line of a map begins, and the box */
};

static const int64_t GR__PIXEL = (int64_t)1 << GR__COORDINATE; /* a pixel in a coordinate */

/* Coefficient k of a map's line. */
GR__ANYWHERE int64_t gr__map_coefficient(const int32_t *line, int k)
{
    return line[2 * k] * GR__PIXEL + (uint32_t)line[2 * k + 1];
}

/* The column or row that a line of a map leads to from output pixel (p, q). */
GR__ANYWHERE int64_t gr__map_axis(const int32_t *line, int64_t p, int64_t q)
{
    return gr__map_coefficient(line, 0) * q + gr__map_coefficient(line, 1) * p + gr__map_coefficient(line, 2);
}

/* Whether output pixel (p, q) lies in the box. */
GR__ANYWHERE bool gr__map_boxed(const int32_t *map, int64_t p, int64_t q)
{
    const int32_t *box = map + GR__MAP_BOX; /* top, left, bottom, right */
    return box[0] <= p && p < box[2] && box[1] <= q && q < box[3];
}

GR__ANYWHERE bool gr__inside(int64_t u, int64_t size)
{
    return u >= 0 && u < size * GR__PIXEL;
}

/* Index i of an axis mirrored into 0 .. size-1: -1 is 1, size is size-2. */
GR__ANYWHERE int64_t gr__reflect(int64_t i, int64_t size)
{
    if (i >= 0 && i < size)
        return i;
    const int64_t period = size > 1 ? 2 * (size - 1) : 1, r = (i % period + period) % period;
    return r < size ? r : period - r;
}

GR__ANYWHERE int64_t gr__clamp(int64_t i, int64_t size)
{
    return i < 0 ? 0 : i < size ? i : size - 1;
}

/*
 * The last pixel whose centre is not behind coordinate u, and in *step how far behind it u lies, of so many binary
 * places.
 */
GR__ANYWHERE int64_t gr__pixel_before(int64_t u, int places, int32_t *step)
{
    const int dropped = GR__COORDINATE - places;
    const int64_t v = (u - GR__PIXEL / 2 + ((int64_t)1 << (dropped - 1))) >> dropped; /* to the nearest step */
    *step = (int32_t)(v & (((int64_t)1 << places) - 1));
    return v >> places;
}

/*
 * The level between four pixels: a, b side by side, c, d below them. The weights add up to 2^24, the sum has 32 bits.
 */
GR__ANYWHERE int32_t gr__bilinear(int32_t a, int32_t b, int32_t c, int32_t d, int32_t step_x, int32_t step_y)
{
    const uint32_t one = 1u << GR__LINEAR, right = (uint32_t)step_x, below = (uint32_t)step_y;
    const uint32_t left = one - right, above = one - below;
    const uint32_t sum =
        above * (left * (uint32_t)a + right * (uint32_t)b) + below * (left * (uint32_t)c + right * (uint32_t)d);
    return (int32_t)((sum + (1u << 23)) >> 24);
}

/*
 * Cubic convolution (Keys 1981): the weights of the pixels -1, 0, 1 and 2 from the one before, at t = step / 2^16:
 *   w(d) = (a + 2) d^3 - (a + 3) d^2 + 1 for d <= 1,   a (d - 1) (d - 2)^2 for d <= 2
 * with a = -1. They add up to GR__WEIGHT_ONE: pixel 1 takes what rounding leaves.
 */
GR__ANYWHERE void gr__cubic_weights(int32_t step, int32_t weight[GR__TAPS])
{
    const int64_t one = 1 << GR__CUBIC, t = step, s = one - t, half = (int64_t)1 << 27; /* products in units of 2^-48 */
    weight[0] = (int32_t)((half - t * s * s) >> 28);
    weight[1] = (int32_t)((t * t * t - 2 * one * t * t + one * one * one + half) >> 28);
    weight[3] = (int32_t)((half - s * t * t) >> 28);
    weight[2] = GR__WEIGHT_ONE - weight[0] - weight[1] - weight[3];
}

GR__ANYWHERE int32_t gr__to_level(int32_t v)
{
    return v < 0 ? 0 : v < 255 ? v : 255;
}

/* Four pixels of a row, in units of 2^-5 of a level. */
GR__ANYWHERE int32_t gr__cubic_row(const int32_t pixel[GR__TAPS], const int32_t weight[GR__TAPS])
{
    const int32_t sum = pixel[0] * weight[0] + pixel[1] * weight[1] + pixel[2] * weight[2] + pixel[3] * weight[3];
    return (sum + (1 << 14)) >> 15;
}

/* The level of four such rows. */
GR__ANYWHERE int32_t gr__cubic_level(const int32_t row[GR__TAPS], const int32_t weight[GR__TAPS])
{
    int64_t sum = 1 << (GR__WEIGHT + 4);
    for (int k = 0; k < GR__TAPS; k++)
        sum += (int64_t)row[k] * weight[k];
    return gr__to_level((int32_t)(sum >> (GR__WEIGHT + 5)));
}

/*
 * bicubic-resize. PIL makes `out` pixels of `size` ones: the centre of pixel q lies at (2 q + 1) size / (2 out),
 * weights are rounded to 22 binary places, sums along a row to levels, and sums of these down a column to levels again.
 * Where weights are simple fractions, as for 200 -> 250, many sums lie halfway between two levels, and the last place
 * of a weight decides. So coordinates, of 32 binary places, are put back on the steps of which 2 out lie between two
 * pixels.
 */
enum { GR__RESIZE_SIDE = 4096 /* the largest `out`: (2 out)^3 2^23 has to fit 64 bits */ };

/* One axis: the pixel before the coordinate and the weights of those -1, 0, 1, 2 from it. */
typedef struct {
    int64_t before;
    int32_t weight[GR__TAPS];
} gr__resize_taps;

/*
 * The steps between two pixels' centres along an axis of `size` pixels. along, across: how far its coordinate moves
 * with the result's own axis and with the other. 2 out if this is a resize's map, so that along is size / out; else
 * 2^13.
 */
GR__ANYWHERE int32_t gr__resize_steps(int64_t along, int64_t across, int64_t size)
{
    const int64_t pace = along < 0 ? -along : along, whole = size * GR__PIXEL;
    const int64_t out = pace ? (whole + pace / 2) / pace : 0, error = out * pace - whole;
    const bool resize = !across && out > 0 && out <= GR__RESIZE_SIDE && -out <= error && error <= out;
    return (int32_t)(2 * (resize ? out : (int64_t)GR__RESIZE_SIDE));
}

/* part / whole in units of 2^-22, halves away from 0. */
GR__ANYWHERE int32_t gr__resize_share(int64_t part, int64_t whole)
{
    const int64_t usual = (int64_t)1 << 40; /* of 2^13 steps, which turned maps have: no division but a shift */
    const int64_t rounded = part * (1 << GR__RESIZE) + (part < 0 ? -whole / 2 : whole / 2);
    return (int32_t)(whole == usual ? rounded / usual : rounded / whole);
}

/*
 * The taps at coordinate u, a = -1/2. Unless folded, u lies inside the picture, and pixels outside 0 .. size-1 have no
 * weight and the others more.
 */
GR__ANYWHERE gr__resize_taps gr__resize_at(int64_t u, int64_t steps, int64_t size, bool folded)
{
    const int64_t within = ((u & (GR__PIXEL - 1)) * steps + GR__PIXEL / 2) >> GR__COORDINATE, past = within - steps / 2;
    const int64_t t = past < 0 ? past + steps : past, s = steps - t, one = 2 * steps * steps * steps;
    int64_t part[GR__TAPS] = {-t * s * s, (3 * t - 5 * steps) * t * t + one, (3 * s - 5 * steps) * s * s + one,
                              -s * t * t}; /* of 2 steps^3 */
    gr__resize_taps taps;
    taps.before = (u >> GR__COORDINATE) - (past < 0 ? 1 : 0);
    int64_t whole = 0;
    for (int k = 0; k < GR__TAPS; k++) {
        if (!folded && (taps.before - 1 + k < 0 || taps.before - 1 + k >= size))
            part[k] = 0;
        whole += part[k];
    }
    for (int k = 0; k < GR__TAPS; k++)
        taps.weight[k] = gr__resize_share(part[k], whole);
    return taps;
}

/* The level of four levels. */
GR__ANYWHERE int32_t gr__resize_level(const int32_t level[GR__TAPS], const int32_t weight[GR__TAPS])
{
    int32_t sum = 1 << (GR__RESIZE - 1);
    for (int k = 0; k < GR__TAPS; k++)
        sum += level[k] * weight[k];
    return gr__to_level(sum >> GR__RESIZE);
}

#endif
