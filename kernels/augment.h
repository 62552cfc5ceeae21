/*
 * augment.h - where an augmented pixel is read and with which weights, for every kernel the same. All of it is integers, so
 * that a level has the same bits on every device: coordinates are 16.16, between the centres of two pixels lie 4096 steps, a
 * cubic's weights are multiples of 2^-14.
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
    GR__MAP_ONE = 65536, /* a pixel in a coordinate */
    GR__STEPS = 4096,    /* steps from one pixel's centre to the next */
    GR__WEIGHT_ONE = 16384,
    GR__TAPS = 4 /* pixels that a cubic reads along an axis */
};

/* Where an affine map m (rows of three numbers) leads from output pixel (p, q): a column or a row in 16.16. */
GR__ANYWHERE int64_t gr__map_axis(const int32_t *m, int64_t p, int64_t q)
{
    return m[0] * q + m[1] * p + m[2];
}

GR__ANYWHERE bool gr__inside(int64_t u, int64_t size)
{
    return u >= 0 && u < size * GR__MAP_ONE;
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

/* The last pixel whose centre is not behind coordinate u, and in *step how far behind that centre u lies: 0 .. 4095. */
GR__ANYWHERE int64_t gr__pixel_before(int64_t u, int32_t *step)
{
    const int64_t v = (u - GR__MAP_ONE / 2 + 8) >> 4; /* to the nearest step */
    *step = (int32_t)(v & (GR__STEPS - 1));
    return v >> 12;
}

/* The level between four pixels: a, b side by side, c, d below them. The weights add up to 2^24, the sum has 32 bits. */
GR__ANYWHERE int32_t gr__bilinear(int32_t a, int32_t b, int32_t c, int32_t d, int32_t step_x, int32_t step_y)
{
    const uint32_t right = (uint32_t)step_x, left = GR__STEPS - right, below = (uint32_t)step_y, above = GR__STEPS - below;
    const uint32_t sum = above * (left * (uint32_t)a + right * (uint32_t)b) + below * (left * (uint32_t)c + right * (uint32_t)d);
    return (int32_t)((sum + (1u << 23)) >> 24);
}

/*
 * Cubic convolution (Keys 1981): the weights of the pixels -1, 0, 1 and 2 from the one before, at t = step / 4096:
 *   w(d) = (a + 2) d^3 - (a + 3) d^2 + 1 for d <= 1,   a (d - 1) (d - 2)^2 for d <= 2
 * with a = twice / 2. They add up to GR__WEIGHT_ONE: pixel 1 takes what rounding leaves.
 */
GR__ANYWHERE void gr__cubic_weights(int32_t step, int twice, int32_t weight[GR__TAPS])
{
    const int64_t one = GR__STEPS, t = step, s = one - t, half = 1 << 22; /* products in units of 2^-37 */
    weight[0] = (int32_t)((twice * t * s * s + half) >> 23);
    weight[1] = (int32_t)(((twice + 4) * t * t * t - (twice + 6) * one * t * t + 2 * one * one * one + half) >> 23);
    weight[3] = (int32_t)((twice * s * t * t + half) >> 23);
    weight[2] = GR__WEIGHT_ONE - weight[0] - weight[1] - weight[3];
}

/* Weights of pixels outside 0 .. size-1 become 0 and the others grow, as PIL's resize does at an edge. */
GR__ANYWHERE void gr__cubic_inside(int64_t before, int64_t size, int32_t weight[GR__TAPS])
{
    int32_t sum = 0, rest = GR__WEIGHT_ONE;
    for (int k = 0; k < GR__TAPS; k++) {
        if (before - 1 + k < 0 || before - 1 + k >= size)
            weight[k] = 0;
        sum += weight[k];
    }
    if (sum == GR__WEIGHT_ONE)
        return;
    for (int k = 0; k < GR__TAPS; k++) {
        weight[k] = weight[k] * GR__WEIGHT_ONE / sum;
        rest -= weight[k];
    }
    weight[before >= 0 ? 1 : 2] += rest;
}

/* Four pixels of a row, in units of 2^-7 of a level. */
GR__ANYWHERE int32_t gr__cubic_row(const int32_t pixel[GR__TAPS], const int32_t weight[GR__TAPS])
{
    const int32_t sum = pixel[0] * weight[0] + pixel[1] * weight[1] + pixel[2] * weight[2] + pixel[3] * weight[3];
    return (sum + 64) >> 7;
}

/* The level of four such rows. */
GR__ANYWHERE int32_t gr__cubic_level(const int32_t row[GR__TAPS], const int32_t weight[GR__TAPS])
{
    const int32_t sum = row[0] * weight[0] + row[1] * weight[1] + row[2] * weight[2] + row[3] * weight[3];
    const int32_t level = (sum + (1 << 20)) >> 21;
    return level < 0 ? 0 : level < 255 ? level : 255;
}

#endif
