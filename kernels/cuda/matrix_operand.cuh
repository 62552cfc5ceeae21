/*
 * matrix_operand.cuh - matrices in memory as operands of a product.
 *
 *   matrix_by_line   data[lines][depth]: neighbours are depths of one line
 *   matrix_by_depth  data[depth][lines]: neighbours are lines of one depth
 */
#ifndef GRADUS_MATRIX_OPERAND_CUH
#define GRADUS_MATRIX_OPERAND_CUH

#include "kernels/cuda/operand.cuh"

template <class E> struct matrix_by_line {
    enum { LINES_SIDE_BY_SIDE = 0, HEAVY = 0 };
    typedef E element;
    const E *data; /* [lines][depth] */
    int64_t lines, depth;
    bool aligned;               /* rows begin at multiples of 16 bytes */
    typedef const E *line_part; /* where the line begins; NULL: outside */
    typedef int depth_part;     /* the depth */
};

template <class E> struct matrix_by_depth {
    enum { LINES_SIDE_BY_SIDE = 1, HEAVY = 0 };
    typedef E element;
    const E *data;       /* [depth][lines] */
    int64_t lines, size; /* size: of the whole matrix */
    bool aligned;
    typedef int line_part;      /* the line */
    typedef int64_t depth_part; /* where the depth begins */
};

template <class E> static inline matrix_by_line<E> by_line(const E *data, int64_t lines, int64_t depth)
{
    return matrix_by_line<E>{data, lines, depth, depth % piece<E>::COUNT == 0};
}

template <class E> static inline matrix_by_depth<E> by_depth(const E *data, int64_t lines, int64_t depth)
{
    return matrix_by_depth<E>{data, lines, depth * lines, lines % piece<E>::COUNT == 0};
}

template <class E> static inline bool is_whole(const matrix_by_line<E> &o)
{
    return o.aligned;
}
template <class E> static inline bool is_whole(const matrix_by_depth<E> &o)
{
    return o.aligned;
}

template <class E> GR_DEVICE const E *operand_line(const matrix_by_line<E> *o, int64_t line)
{
    return line < o->lines ? o->data + line * o->depth : NULL;
}
template <class E> GR_DEVICE int operand_depth(const matrix_by_line<E> *, int64_t depth)
{
    return (int)depth;
}
template <class E> GR_DEVICE void operand_step(const matrix_by_line<E> *, int *depth)
{
    *depth += DEPTH<E>;
}
template <class E> GR_DEVICE const E *operand_place(const matrix_by_line<E> *o, const E *line, int depth, bool *inside)
{
    *inside = line && depth < (int)o->depth;
    return line + depth;
}
template <class E> GR_DEVICE piece<E> operand_piece(const matrix_by_line<E> *o, const E *line, int depth)
{
    return piece_inside(line + depth, line ? at_most_a_piece<E>(o->depth - depth) : 0, o->aligned);
}

template <class E> GR_DEVICE int operand_line(const matrix_by_depth<E> *, int64_t line)
{
    return (int)line;
}
template <class E> GR_DEVICE int64_t operand_depth(const matrix_by_depth<E> *o, int64_t depth)
{
    return depth * o->lines;
}
template <class E> GR_DEVICE void operand_step(const matrix_by_depth<E> *o, int64_t *row)
{
    *row += DEPTH<E> * o->lines;
}
template <class E> GR_DEVICE const E *operand_place(const matrix_by_depth<E> *o, int line, int64_t row, bool *inside)
{
    *inside = line < (int)o->lines && row < o->size;
    return o->data + (row + line);
}
template <class E> GR_DEVICE piece<E> operand_piece(const matrix_by_depth<E> *o, int line, int64_t row)
{
    return piece_inside(o->data + row + line, row < o->size ? at_most_a_piece<E>(o->lines - line) : 0, o->aligned);
}

#endif
