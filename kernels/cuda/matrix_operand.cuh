/*
 * matrix_operand.cuh - matrices in memory as operands of a product.
 *
 *   matrix_by_line   data[lines][depth]: neighbours are depths of one line
 *   matrix_by_depth  data[depth][lines]: neighbours are lines of one depth
 *   masked<MATRIX>   of which elements count where ReLU's mask, where one is given, is above 0
 */
#ifndef GRADUS_MATRIX_OPERAND_CUH
#define GRADUS_MATRIX_OPERAND_CUH

#include "kernels/cuda/operand.cuh"

template <class E> struct matrix_by_line {
    enum { LINES_SIDE_BY_SIDE = 0, DIRECT = 1, HEAVY = 0 };
    typedef E element;
    const E *data; /* [lines][depth] */
    int64_t lines, depth;
    bool aligned;               /* rows begin at multiples of 16 bytes */
    typedef int64_t line_part;  /* where the line begins; -1: outside */
    typedef int64_t depth_part; /* the depth */
};

template <class E> struct matrix_by_depth {
    enum { LINES_SIDE_BY_SIDE = 1, DIRECT = 1, HEAVY = 0 };
    typedef E element;
    const E *data;       /* [depth][lines] */
    int64_t lines, size; /* size: of the whole matrix */
    bool aligned;
    typedef int64_t line_part;  /* the line */
    typedef int64_t depth_part; /* where the depth begins */
};

template <class MATRIX> struct masked : MATRIX {
    const typename MATRIX::element *mask; /* of the same shape, or NULL */
};

template <class E> static inline matrix_by_line<E> by_line(const E *data, int64_t lines, int64_t depth)
{
    return matrix_by_line<E>{data, lines, depth, depth % piece<E>::COUNT == 0};
}

template <class E> static inline matrix_by_depth<E> by_depth(const E *data, int64_t lines, int64_t depth)
{
    return matrix_by_depth<E>{data, lines, depth * lines, lines % piece<E>::COUNT == 0};
}

template <class MATRIX> static inline masked<MATRIX> masked_by(const MATRIX &o, const typename MATRIX::element *mask)
{
    return masked<MATRIX>{o, mask};
}

template <class E> static inline bool is_whole(const matrix_by_line<E> &o)
{
    return o.aligned;
}
template <class E> static inline bool is_whole(const matrix_by_depth<E> &o)
{
    return o.aligned;
}
template <class MATRIX> static inline bool is_whole(const masked<MATRIX> &o)
{
    return o.aligned && !o.mask;
}

/* A whole matrix has no mask. */
template <class MATRIX> static inline whole<MATRIX> whole_of(const masked<MATRIX> &o)
{
    return {o};
}

/* A piece of a matrix, masked unless mask is NULL; at: where it begins, if any of it is inside. */
template <class MATRIX, class E = typename MATRIX::element>
GR_DEVICE piece<E> matrix_piece(const MATRIX *o, const E *mask, int64_t at, int inside)
{
    if (inside == 0)
        return {};
    const piece<E> v = piece_inside(o->data + at, inside, o->aligned);
    return mask ? piece_masked(v, piece_inside(mask + at, inside, o->aligned)) : v;
}

template <class E> GR_DEVICE int64_t operand_line(const matrix_by_line<E> *o, int64_t line)
{
    return line < o->lines ? line * o->depth : -1;
}
template <class E> GR_DEVICE int64_t operand_depth(const matrix_by_line<E> *, int64_t depth)
{
    return depth;
}
template <class E> GR_DEVICE void operand_step(const matrix_by_line<E> *, int64_t *depth)
{
    *depth += DEPTH<E>;
}
template <class E>
GR_DEVICE const E *operand_place(const matrix_by_line<E> *o, int64_t line, int64_t depth, bool *inside)
{
    *inside = line >= 0 && depth < o->depth;
    return o->data + (*inside ? line + depth : 0);
}
template <class E> GR_DEVICE int matrix_inside(const matrix_by_line<E> *o, int64_t line, int64_t depth)
{
    return line < 0 ? 0 : at_most_a_piece<E>(o->depth - depth);
}
template <class E> GR_DEVICE piece<E> operand_piece(const matrix_by_line<E> *o, int64_t line, int64_t depth)
{
    return matrix_piece(o, (const E *)NULL, line + depth, matrix_inside(o, line, depth));
}

template <class E> GR_DEVICE int64_t operand_line(const matrix_by_depth<E> *, int64_t line)
{
    return line;
}
template <class E> GR_DEVICE int64_t operand_depth(const matrix_by_depth<E> *o, int64_t depth)
{
    return depth * o->lines;
}
template <class E> GR_DEVICE void operand_step(const matrix_by_depth<E> *o, int64_t *row)
{
    *row += DEPTH<E> * o->lines;
}
template <class E>
GR_DEVICE const E *operand_place(const matrix_by_depth<E> *o, int64_t line, int64_t row, bool *inside)
{
    *inside = line < o->lines && row < o->size;
    return o->data + (*inside ? row + line : 0);
}
template <class E> GR_DEVICE int matrix_inside(const matrix_by_depth<E> *o, int64_t line, int64_t row)
{
    return row < o->size ? at_most_a_piece<E>(o->lines - line) : 0;
}
template <class E> GR_DEVICE piece<E> operand_piece(const matrix_by_depth<E> *o, int64_t line, int64_t row)
{
    return matrix_piece(o, (const E *)NULL, row + line, matrix_inside(o, line, row));
}

template <class MATRIX>
GR_DEVICE piece<typename MATRIX::element> operand_piece(const masked<MATRIX> *o, int64_t line, int64_t depth)
{
    return matrix_piece(o, o->mask, line + depth, matrix_inside(o, line, depth));
}

#endif
