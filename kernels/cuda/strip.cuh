/*
 * strip.cuh - the steps of a product's operands in shared memory, and the loop over them that all kinds of tiles share.
 *
 * Shared memory holds three steps. A piece of 16 bytes goes there as it comes from memory: by cp.async where its
 * operand is whole, else through registers; so an operand's step, a strip, is
 *   [line][4 pieces of depth]      where neighbours are depths of one line
 *   [depth][pieces of all lines]   where neighbours are lines of one depth
 * While a step is multiplied, the two after it are on their way. One barrier a step.
 *
 * Banks     Tensor cores: ldmatrix reads eight pieces of eight successive rows at a time. Piece p of row r lies at
 *           place p xor (r, in rows of 128 bytes), so that these eight, and eight neighbours of one row, lie in
 *           different banks. Floats loaded one by one are 8 neighbours, two pieces, of 4 successive rows: there, at p
 *           xor 2r. Multiply-adds: eight threads read a piece each of every fourth line: an empty piece behind every
 *           four lines keeps these apart.
 */
#ifndef GRADUS_STRIP_CUH
#define GRADUS_STRIP_CUH

#include "kernels/cuda/share.cuh"

enum { STAGES = 3 };

/* The pieces of an operand's LINES x DEPTH in shared memory, as rows of ACROSS. */
template <class OPERAND, int LINES, int THREADS> struct strip {
    typedef share<OPERAND, LINES, THREADS> SHARE;
    static const bool SIDE_BY_SIDE = SHARE::SIDE_BY_SIDE, TURNED = tensor_cores<typename OPERAND::element>::USED;
    static const bool ONE_BY_ONE = TURNED && SIDE_BY_SIDE && sizeof(typename OPERAND::element) == sizeof(float);
    static const int COUNT = SHARE::COUNT, STEP = SHARE::STEP, ACROSS = SHARE::ACROSS;
    static const int TURN = ACROSS < 8 ? ACROSS : 8; /* places, 128 bytes of them or a row, among which pieces turn */
    static const int EIGHT_ROWS = ONE_BY_ONE ? 2 * TURN : TURN; /* how far they turn in eight rows */
    static const int BOX = ONE_BY_ONE ? ACROSS : TURN;          /* places of a row that lie side by side */
    static const int ROWS = SHARE::PIECES / ACROSS;
    static const int EMPTY = TURNED || SIDE_BY_SIDE ? 0 : LINES / QUAD;
    typename SHARE::PIECE at[SHARE::PIECES + EMPTY];
};

/* Where the piece at place across of a row lies in a strip: the first BOX of all rows, then the next of all rows. */
template <class STRIP> GR_DEVICE int strip_place(int row, int across)
{
    if (!STRIP::TURNED)
        return row * STRIP::ACROSS + across + (STRIP::SIDE_BY_SIDE ? 0 : row / QUAD);
    const int box = STRIP::ACROSS > STRIP::BOX ? across / STRIP::BOX : 0;
    const int turned = (across - box * STRIP::BOX) ^ row * STRIP::EIGHT_ROWS / 8 % STRIP::TURN;
    return (box * STRIP::ROWS + row) * STRIP::BOX + turned;
}

/* A step's pieces: sent to the strip, or into registers. */
template <class OPERAND, int LINES, int THREADS>
GR_DEVICE void strip_fetch(share<OPERAND, LINES, THREADS> *mine, strip<OPERAND, LINES, THREADS> *to, const OPERAND *o)
{
    typedef strip<OPERAND, LINES, THREADS> STRIP;
    typedef typename STRIP::SHARE SHARE;
    if constexpr (COPIED<OPERAND>) {
        FOR_MY_PIECES(SHARE, i, n)
        {
            bool inside;
            const void *from = operand_place(o, share_line_part(mine, i), share_depth_part(mine, i), &inside);
            gr_cp_async16(&to->at[strip_place<STRIP>(n / STRIP::ACROSS, n % STRIP::ACROSS)], from, inside ? 16 : 0);
        }
        share_step(mine, o);
    } else {
        share_fetch(mine, o);
    }
}

/* What is in registers, into the strip. */
template <class OPERAND, int LINES, int THREADS>
GR_DEVICE void strip_put(const share<OPERAND, LINES, THREADS> *mine, strip<OPERAND, LINES, THREADS> *to)
{
    typedef strip<OPERAND, LINES, THREADS> STRIP;
    typedef typename STRIP::SHARE SHARE;
    if constexpr (!COPIED<OPERAND>)
        FOR_MY_PIECES(SHARE, i, n)
    to->at[strip_place<STRIP>(n / STRIP::ACROSS, n % STRIP::ACROSS)] = mine->held[i];
}

/*
 * Adds to sum, which is of the kind that strip_multiply(TILE(), sum, &strip_a, &strip_b) adds a step to, this thread's
 * part of the tile at row m and column n, over depths first to end; first is a whole number of steps. All threads of
 * the block must come. Afterwards nobody reads the strips any more.
 */
template <class TILE, class SUM, class A, class B>
GR_DEVICE void strips_product(TILE tile, SUM *sum, const A *a, const B *b, int64_t m, int64_t n, int64_t first,
                              int64_t end)
{
    typedef strip<A, TILE::M, TILE::THREADS> STRIP_A;
    typedef strip<B, TILE::N, TILE::THREADS> STRIP_B;
    GR_SHARED(STRIP_A, strip_a, [STAGES]);
    GR_SHARED(STRIP_B, strip_b, [STAGES]);
    typename STRIP_A::SHARE of_a = {};
    typename STRIP_B::SHARE of_b = {};
    share_open(&of_a, a, m, first);
    share_open(&of_b, b, n, first);
    const int steps = (int)((end - first + STRIP_A::STEP - 1) / STRIP_A::STEP);
    int stage = 0; /* where the next step goes to */
    for (; stage < STAGES - 1; stage++) {
        if (stage < steps) {
            strip_fetch(&of_a, &strip_a[stage], a);
            strip_fetch(&of_b, &strip_b[stage], b);
            strip_put(&of_a, &strip_a[stage]);
            strip_put(&of_b, &strip_b[stage]);
        }
        gr_cp_async_commit();
    }
    int now = 0;
    for (int step = 0; step < steps; step++) {
        const bool more = step + STAGES - 1 < steps;
        gr_cp_async_wait<STAGES - 2>(); /* this step's copies have come, after the barrier those of all threads */
        __syncthreads();                /* and the stage before this one has been read by all */
        if (more) {
            strip_fetch(&of_a, &strip_a[stage], a);
            strip_fetch(&of_b, &strip_b[stage], b);
        }
        gr_cp_async_commit();
        __syncwarp(); /* pieces at an edge part lanes; ldmatrix and mma are for a warp that is whole */
        strip_multiply(tile, sum, &strip_a[now], &strip_b[now]);
        if (more) {
            strip_put(&of_a, &strip_a[stage]);
            strip_put(&of_b, &strip_b[stage]);
        }
        now = now + 1 < STAGES ? now + 1 : 0;
        stage = stage + 1 < STAGES ? stage + 1 : 0;
    }
    __syncthreads();
}

#endif
