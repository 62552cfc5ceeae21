/*
 * matrix_operand.cuh - matrices in memory as operands of a product, with ReLU's mask where one is given: elements count
 * where the mask is above 0.
 *
 *   matrix_by_line   data[lines][depth]: neighbours are depths of one line
 *   matrix_by_depth  data[depth][lines]: neighbours are lines of one depth
 */
#ifndef GRADUS_MATRIX_OPERAND_CUH
#define GRADUS_MATRIX_OPERAND_CUH

#include "kernels/cuda/gemm_tile.cuh"

/* data[0..3] where inside and mask[0..3] > 0, else 0; mask may be NULL. */
GR_DEVICE quad quad_masked(const float *data, const float *mask, int64_t at, int64_t inside, bool whole)
{
    quad v = quad_inside(data + at, inside, whole);
    if (mask) {
        const quad y = quad_inside(mask + at, inside, whole);
#pragma unroll
        for (int j = 0; j < QUAD; j++)
            v.at[j] = y.at[j] > 0 ? v.at[j] : 0;
    }
    return v;
}

struct matrix_by_line {
    enum { LINES_SIDE_BY_SIDE = 0 };
    const float *data, *mask; /* [lines][depth]; mask may be NULL */
    int64_t lines, depth;
    bool whole; /* rows begin at multiples of 16 bytes */
    typedef struct {
        int64_t row; /* where the line begins; -1: outside */
    } cursor;
};

struct matrix_by_depth {
    enum { LINES_SIDE_BY_SIDE = 1 };
    const float *data, *mask; /* [depth][lines]; mask may be NULL */
    int64_t lines, depth;
    bool whole;
    typedef struct {
        int64_t line;
    } cursor;
};

static inline matrix_by_line by_line(const float *data, const float *mask, int64_t lines, int64_t depth)
{
    return (matrix_by_line){data, mask, lines, depth, depth % QUAD == 0};
}

static inline matrix_by_depth by_depth(const float *data, const float *mask, int64_t lines, int64_t depth)
{
    return (matrix_by_depth){data, mask, lines, depth, lines % QUAD == 0};
}

GR_DEVICE void operand_open(const matrix_by_line *o, matrix_by_line::cursor *c, int64_t line, int64_t)
{
    c->row = line < o->lines ? line * o->depth : -1;
}
GR_DEVICE quad operand_next(const matrix_by_line *o, matrix_by_line::cursor *c, int64_t depth)
{
    return quad_masked(o->data, o->mask, c->row + depth, c->row < 0 ? 0 : o->depth - depth, o->whole);
}

GR_DEVICE void operand_open(const matrix_by_depth *, matrix_by_depth::cursor *c, int64_t line, int64_t)
{
    c->line = line;
}
GR_DEVICE quad operand_next(const matrix_by_depth *o, matrix_by_depth::cursor *c, int64_t depth)
{
    return quad_masked(o->data, o->mask, depth * o->lines + c->line, depth < o->depth ? o->lines - c->line : 0, o->whole);
}

#endif
