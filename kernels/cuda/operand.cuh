/*
 * operand.cuh - what an operand of a product c[m,n] = sum_k a(m,k) b(k,n) is: a matrix of lines (rows of a, columns of
 * b) and depths (k) that a tile reads in pieces of 16 bytes, wherever its elements lie. A struct with
 *
 *   element                     float, f16, bf16 or tf32
 *   LINES_SIDE_BY_SIDE          neighbours in memory are: 1 lines of one depth, 0 depths of one line
 *   HEAVY                       1: it takes so many registers that a multiprocessor shall hold one block, not two
 *   cursor                      what a thread remembers of the pieces that it brings
 *   operand_open(&o, &c, line, depth)    where a cursor starts
 *   operand_next(&o, &c, depth)          a piece, 0 outside; then the cursor moves on by a step, DEPTH<element>
 *
 * and, for tiles that are filled by asynchronous copies (DIRECT, and if 0 neither of these is asked for):
 *   operand_direct(&o)                     whether every piece lies in memory as it is wanted: no mask, aligned; else
 *                                          operand_next is asked
 *   operand_place(&o, &c, depth, &inside)  where it lies and how many of its elements exist; then the cursor moves on
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

/* A type that is not deduced: NULL fits where a pointer to it is asked for. */
template <class E> struct itself {
    typedef E type;
};

template <class E> GR_DEVICE int at_most_a_piece(int64_t count)
{
    return count >= piece<E>::COUNT ? (int)piece<E>::COUNT : count > 0 ? (int)count : 0;
}

#endif
