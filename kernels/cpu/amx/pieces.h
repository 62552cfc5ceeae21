/*
 * pieces.h - floats as sums of numbers of bf16, so that tiles can multiply them.
 *
 * A float has 24 bits of fraction, a number of bf16 8. The first piece of a float is the nearest number of bf16, the
 * second one the nearest to what is left, and so on: two hold it but for 2^-17 of it, three hold all of it. A product
 * of floats is the sum of products of their pieces, of which the smallest are left out: of two pieces each the product
 * of the second ones, of three each those that are less than 2^-24 of the whole (docs/precision.md has the bounds).
 * Products are summed up from the smallest to the largest.
 *
 * A number that is not finite is its own last piece, behind ones of its sign: the last piece meets nothing but first
 * ones, so that infinity times any number comes out as it does for floats, and no infinity meets a zero that is not a
 * factor. Nor is a piece infinite that a finite number was rounded to.
 */
#ifndef GRADUS_CPU_AMX_PIECES_H
#define GRADUS_CPU_AMX_PIECES_H

#include "kernels/cpu/amx/amx.h"

enum { MOST_PIECES = 3, MOST_TERMS = 6 };

/* How a call's factors come: 1: in bf16, as they are; 2, 3: floats, in so many pieces; 0: they are not for tiles. */
INLINE int pieces_of(const gr_call *call)
{
    return call->in[0]->type == GR_BF16 ? 1 : call->in[0]->type == GR_F32 ? call->exec->pieces : 0;
}

/* The products of pieces that make a product, smallest first. */
typedef struct {
    int terms;
    struct {
        uint8_t a, b;
    } of[MOST_TERMS];
} piece_products;

INLINE const piece_products *products_of(int pieces)
{
    static const piece_products products[MOST_PIECES] = {
        {1, {{0, 0}}}, {3, {{1, 0}, {0, 1}, {0, 0}}}, {6, {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}}};
    return &products[pieces - 1];
}

/* The piece that comes first: to the nearest, ties to even. */
INLINE vec first_piece(vec v)
{
    const uvec bits = (uvec)v, size = bits & 0x7FFFFFFF;
    const uvec overflows = (uvec)(size >= 0x7F7F8000), endless = (uvec)(size >= 0x7F800000);
    const uvec nearest = bits + ((0x7FFF + (bits >> 16 & 1)) & ~overflows);
    const uvec one = (bits & 0x80000000) | 0x3F800000;
    return (vec)(((nearest & ~endless) | (one & endless)) & 0xFFFF0000);
}

/* The pieces of VL floats, to places at a distance from each other. */
INLINE void split(vec v, int pieces, uint16_t *to, int64_t distance)
{
    for (int i = 1; i < pieces; i++, to += distance) {
        const vec piece = first_piece(v);
        const hvec half = __builtin_convertvector((uvec)piece >> 16, hvec);
        memcpy(to, &half, sizeof half);
        v -= piece;
    }
    to_bf16(to, v);
}

/*
 * The pieces of the first n of STEP floats, and zeros; n may be negative or more. With a gate, a ReLU's result, zeros
 * where that is 0.
 */
INLINE void step_split(const float *from, const float *gate, int64_t n, int pieces, uint16_t *to, int64_t distance)
{
    UNROLL
    for (int64_t i = 0; i < STEP; i += VL) {
        const int64_t some = max64(0, min64(VL, n - i));
        const vec v = vec_load_n(from + i, some);
        split(gate ? vec_gate(vec_load_n(gate + i, some), v) : v, pieces, to + i, distance);
    }
}

#endif
