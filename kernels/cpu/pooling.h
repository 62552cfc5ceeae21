/*
 * pooling.h - the maximum under a window, a vector of channels at a time.
 */
#ifndef GRADUS_CPU_POOLING_H
#define GRADUS_CPU_POOLING_H

#include "kernels/cpu/cpu.h"

enum { NOWHERE = 255 }; /* argmax of a window without a winner */

typedef struct {
    vec value;
    ivec place;
} best;

/* Lets v at place r*S + s compete. The first of equals stays; a NaN beats everything but a NaN. */
INLINE void compete(best *b, vec v, int place)
{
    const mask wins = vec_beats(v, b->value);
    b->value = vec_select(wins, v, b->value);
    b->place = ivec_select(wins, ivec_all(place), b->place);
}

/* Writes the places of n (1..VL) channels. */
INLINE void write_place(const best *b, uint8_t *argmax, int64_t n)
{
    uint8_t bytes[VL];
    if (n == VL) {
        ivec_to_bytes(argmax, b->place);
    } else {
        ivec_to_bytes(bytes, b->place);
        memcpy(argmax, bytes, (size_t)n);
    }
}

/* Writes n (1..VL) channels. argmax may be NULL. */
INLINE void write_best(const best *b, float *y, uint8_t *argmax, int64_t n)
{
    vec_store_n(y, b->value, n);
    if (argmax)
        write_place(b, argmax, n);
}

/* Taps of the window at position p of one axis that lie inside [0, size). */
INLINE span taps_inside(int64_t p, int64_t stride, int64_t pad, int64_t taps, int64_t size)
{
    const int64_t first = p * stride - pad;
    return (span){max64(0, -first), min64(taps, size - first)};
}

#endif
