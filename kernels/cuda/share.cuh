/*
 * share.cuh - what one of a block's THREADS threads brings of an operand's LINES x DEPTH of a step: every THREADS-th of
 * its pieces, in rows of ACROSS pieces that are neighbours in memory.
 *
 * So a thread's pieces have one depth and several lines, or, where lines are side by side, one line and several depths:
 * what they share is worked out once.
 */
#ifndef GRADUS_SHARE_CUH
#define GRADUS_SHARE_CUH

#include "kernels/cuda/operand.cuh"

enum { MOST_THREADS = 512 /* that a multiprocessor shall hold: 128 registers for each */ };

template <class OPERAND, int LINES, int THREADS_> struct share {
    typedef piece<typename OPERAND::element> PIECE;
    static const int SIDE_BY_SIDE = OPERAND::LINES_SIDE_BY_SIDE;
    static const int THREADS = THREADS_, COUNT = PIECE::COUNT, STEP = DEPTH<typename OPERAND::element>;
    static const int ACROSS = (SIDE_BY_SIDE ? LINES : STEP) / COUNT, PIECES = LINES * STEP / COUNT;
    static const int MINE = (PIECES + THREADS - 1) / THREADS;
    static_assert(THREADS % ACROSS == 0, "a thread's pieces begin in one column");
    typename OPERAND::line_part line[SIDE_BY_SIDE ? 1 : MINE];
    typename OPERAND::depth_part depth[SIDE_BY_SIDE ? MINE : 1];
    PIECE held[MINE];
};

/* This thread's i-th piece has number n of the step; the last threads of a small tile have none. */
#define FOR_MY_PIECES(SHARE, i, n)                                      \
    _Pragma("unroll") for (int i = 0, n = threadIdx.x; i < SHARE::MINE; \
                           i++, n += SHARE::THREADS) if (SHARE::PIECES % SHARE::THREADS == 0 || n < SHARE::PIECES)

/* Line and depth, in the tile, of piece n. */
template <class SHARE> GR_DEVICE int share_line(int n)
{
    return SHARE::SIDE_BY_SIDE ? n % SHARE::ACROSS * SHARE::COUNT : n / SHARE::ACROSS;
}
template <class SHARE> GR_DEVICE int share_depth(int n)
{
    return SHARE::SIDE_BY_SIDE ? n / SHARE::ACROSS : n % SHARE::ACROSS * SHARE::COUNT;
}

template <class OPERAND, int LINES, int THREADS>
GR_DEVICE void share_open(share<OPERAND, LINES, THREADS> *mine, const OPERAND *o, int64_t line, int64_t depth)
{
    typedef share<OPERAND, LINES, THREADS> SHARE;
    const int lines = SHARE::SIDE_BY_SIDE ? 1 : SHARE::MINE, depths = SHARE::SIDE_BY_SIDE ? SHARE::MINE : 1;
#pragma unroll
    for (int i = 0; i < lines; i++)
        mine->line[i] = operand_line(o, line + share_line<SHARE>(threadIdx.x + i * THREADS));
#pragma unroll
    for (int i = 0; i < depths; i++)
        mine->depth[i] = operand_depth(o, depth + share_depth<SHARE>(threadIdx.x + i * THREADS));
}

/* On to the next step. */
template <class OPERAND, int LINES, int THREADS>
GR_DEVICE void share_step(share<OPERAND, LINES, THREADS> *mine, const OPERAND *o)
{
#pragma unroll
    for (auto &depth : mine->depth)
        operand_step(o, &depth);
}

/* Line and depth of this thread's i-th piece: they share the one or the other. */
template <class SHARE> GR_DEVICE const auto &share_line_part(const SHARE *mine, int i)
{
    return mine->line[SHARE::SIDE_BY_SIDE ? 0 : i];
}
template <class SHARE> GR_DEVICE const auto &share_depth_part(const SHARE *mine, int i)
{
    return mine->depth[SHARE::SIDE_BY_SIDE ? i : 0];
}

/* A step's pieces from global memory into registers. */
template <class OPERAND, int LINES, int THREADS>
GR_DEVICE void share_fetch(share<OPERAND, LINES, THREADS> *mine, const OPERAND *o)
{
    typedef share<OPERAND, LINES, THREADS> SHARE;
    FOR_MY_PIECES(SHARE, i, n)
    mine->held[i] = operand_piece(o, share_line_part(mine, i), share_depth_part(mine, i));
    share_step(mine, o);
}

#endif
