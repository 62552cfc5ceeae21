/*
 * operand.cuh - what an operand of a product c[m,n] = sum_k a(m,k) b(k,n) is: a matrix of lines (rows of a, columns of
 * b) and depths (k) that a tile reads in pieces of 16 bytes, wherever its elements lie. A struct with
 *
 *   element                          float, f16, bf16 or tf32
 *   LINES_SIDE_BY_SIDE               neighbours in memory are: 1 lines of one depth, 0 depths of one line
 *   HEAVY                            1: it takes so many registers that a multiprocessor shall hold one block, not two
 *   line_part, depth_part            what a thread knows of a piece's first line, and of its first depth
 *   operand_line(&o, line)           the first; it stays
 *   operand_depth(&o, depth)         the second
 *   operand_step(&o, &depth_part)    which moves on by a step, DEPTH<element>
 *   operand_piece(&o, line_part, depth_part)    the piece: 0 outside
 *
 * Most operands are whole: every piece lies in memory as it is wanted, without a mask, at a multiple of 16 bytes, and
 * all of it exists or nothing. That is known from the shapes before a kernel starts, so whole<O> is a type of its own,
 * whose kernels have no code for the other case. An operand has
 *   is_whole(o)                              whether it is, for the host above all
 *   operand_place(&o, line_part, depth_part, &inside)    where the piece lies; if it is not inside, nothing is read
 */
#ifndef GRADUS_OPERAND_CUH
#define GRADUS_OPERAND_CUH

#include "kernels/cuda/quad.cuh"

/* A step of k: 64 bytes of it. */
template <class E> constexpr int DEPTH = 64 / sizeof(E);

/* Whether E is multiplied on tensor cores: their tiles leave fewer registers to what brings the operands. */
template <class E> struct tensor_cores {
    enum { USED = 1 };
};
template <> struct tensor_cores<float> {
    enum { USED = 0 };
};

template <class O> struct whole : O {
    enum { HEAVY = 0 };
};

/* Whether all of an operand's pieces can be copied. */
template <class O> constexpr bool COPIED = false;
template <class O> constexpr bool COPIED<whole<O>> = true;

/* A piece that lies in memory as it is wanted. */
template <class O>
GR_DEVICE piece<typename O::element> piece_in_place(const O *o, const typename O::line_part &line,
                                                    const typename O::depth_part &depth)
{
    bool inside;
    const typename O::element *from = operand_place(o, line, depth, &inside);
    return piece_inside(from, inside, true);
}

template <class O>
GR_DEVICE piece<typename O::element> operand_piece(const whole<O> *o, const typename O::line_part &line,
                                                   const typename O::depth_part &depth)
{
    return piece_in_place(o, line, depth);
}

template <class E> GR_DEVICE int at_most_a_piece(int64_t count)
{
    return count >= piece<E>::COUNT ? (int)piece<E>::COUNT : count > 0 ? (int)count : 0;
}

#endif
