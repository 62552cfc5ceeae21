/*
 * matrix_operand.cuh - matrices in memory as operands of a product, with ReLU's mask where one is given: elements count
 * where the mask is above 0.
 *
 *   matrix_by_line   data[lines][depth]: neighbours are depths of one line
 *   matrix_by_depth  data[depth][lines]: neighbours are lines of one depth
 */
#ifndef GRADUS_MATRIX_OPERAND_CUH
#define GRADUS_MATRIX_OPERAND_CUH

#include "kernels/cuda/operand.cuh"

template <class E> struct matrix_by_line {
    enum { LINES_SIDE_BY_SIDE = 0, DIRECT = 1, HEAVY = 0 };
    typedef E element;
    const E *data, *mask; /* [lines][depth]; mask may be NULL */
    int64_t lines, depth;
    bool whole; /* rows begin at multiples of 16 bytes */
    typedef struct {
        int64_t row; /* where the line begins; -1: outside */
    } cursor;
};

template <class E> struct matrix_by_depth {
    enum { LINES_SIDE_BY_SIDE = 1, DIRECT = 1, HEAVY = 0 };
    typedef E element;
    const E *data, *mask; /* [depth][lines]; mask may be NULL */
    int64_t lines, depth;
    bool whole;
    typedef struct {
        int64_t line;
    } cursor;
};

template <class E>
static inline matrix_by_line<E> by_line(const E *data, const typename itself<E>::type *mask, int64_t lines,
                                        int64_t depth)
{
    return matrix_by_line<E>{data, mask, lines, depth, depth % piece<E>::COUNT == 0};
}

template <class E>
static inline matrix_by_depth<E> by_depth(const E *data, const typename itself<E>::type *mask, int64_t lines,
                                          int64_t depth)
{
    return matrix_by_depth<E>{data, mask, lines, depth, lines % piece<E>::COUNT == 0};
}

/* A piece of a matrix, masked; from: where it begins in data. */
template <class MATRIX>
GR_DEVICE piece<typename MATRIX::element> matrix_piece(const MATRIX *o, const typename MATRIX::element *from,
                                                       int inside)
{
    piece<typename MATRIX::element> v = piece_inside(from, inside, o->whole);
    if (o->mask)
        v = piece_masked(v, piece_inside(o->mask + (from - o->data), inside, o->whole));
    return v;
}

template <class E>
GR_DEVICE void operand_open(const matrix_by_line<E> *o, typename matrix_by_line<E>::cursor *c, int64_t line, int64_t)
{
    c->row = line < o->lines ? line * o->depth : -1;
}
template <class E> GR_DEVICE bool operand_direct(const matrix_by_line<E> *o)
{
    return o->whole && !o->mask;
}
template <class E>
GR_DEVICE const E *operand_place(const matrix_by_line<E> *o, typename matrix_by_line<E>::cursor *c, int64_t depth,
                                 int *inside)
{
    *inside = c->row < 0 ? 0 : at_most_a_piece<E>(o->depth - depth);
    return *inside ? o->data + c->row + depth : o->data;
}
template <class E>
GR_DEVICE piece<E> operand_next(const matrix_by_line<E> *o, typename matrix_by_line<E>::cursor *c, int64_t depth)
{
    int inside;
    const E *from = operand_place(o, c, depth, &inside);
    return matrix_piece(o, from, inside);
}

template <class E>
GR_DEVICE void operand_open(const matrix_by_depth<E> *, typename matrix_by_depth<E>::cursor *c, int64_t line, int64_t)
{
    c->line = line;
}
template <class E> GR_DEVICE bool operand_direct(const matrix_by_depth<E> *o)
{
    return o->whole && !o->mask;
}
template <class E>
GR_DEVICE const E *operand_place(const matrix_by_depth<E> *o, typename matrix_by_depth<E>::cursor *c, int64_t depth,
                                 int *inside)
{
    *inside = depth < o->depth ? at_most_a_piece<E>(o->lines - c->line) : 0;
    return *inside ? o->data + depth * o->lines + c->line : o->data;
}
template <class E>
GR_DEVICE piece<E> operand_next(const matrix_by_depth<E> *o, typename matrix_by_depth<E>::cursor *c, int64_t depth)
{
    int inside;
    const E *from = operand_place(o, c, depth, &inside);
    return matrix_piece(o, from, inside);
}

#endif
