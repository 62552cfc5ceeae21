/*
 * wrappers.h - every instruction that gpu.h wraps, and the collectives of a warp, as one kernel each: 32-bit words in,
 * words
 * out. The same kernels run on the emulator and on a GPU.
 */
#ifndef GRADUS_TESTS_WRAPPERS_H
#define GRADUS_TESTS_WRAPPERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SM_90A = -90 };
enum { WORDS = 4096 }; /* of input and of output; what a kernel does not write stays as it was */

/* Launches a kernel of one block. */
typedef void wrapper_run(uint32_t *out, const uint32_t *in, void *queue);

/* From the input to the output, in plain C. */
typedef void wrapper_expect(uint32_t *out, const uint32_t *in);

/*
 * TMA_BOXES(BOX): what tma_4d brings of the input as halves [3][5][7][72], boxes of 2 x 3 x 4 x 64 behind one another.
 * BOX(number, every_h, every_w, n, h, w, c): of h every every_h-th, of w every every_w-th, from (n, h, w, c) on.
 */
#define TMA_BOXES(BOX)                                                        \
    BOX(0, 1, 1, -1, -1, -1, -8) /* each of these hangs over on four sides */ \
    BOX(1, 1, 1, 2, 3, 5, 16)                                                 \
    BOX(2, 2, 2, 1, 0, 0, 8) /* inside */                                     \
    BOX(3, 2, 2, -1, -1, -1, 16)                                              \
    BOX(4, 2, 3, 2, 1, -4, -16)

enum { SHIFTS = 18 }; /* of wgmma_shifted: nine taps for each of two groups of pixels */

/*
 * WRAPPER(name, capability, input, compare)
 *   capability  the oldest that has the instruction, 10 major + minor; SM_90A: 9.0 alone
 *   input       WORDS_ANY    any words
 *               HALVES       pairs of f16 between -1 and 1
 *               BF16S        pairs of bf16 between -1 and 1
 *               FLOATS       floats between -1 and 1
 *               HALF_INTS, BF16_INTS, INTS   whole numbers from -8 to 8: sums of products are exact in any order
 *               HALF_INTS_ALL, BF16_INTS_ALL  the same, but all words are factors
 *               EDGES        floats at the edges of the 16-bit types, and ties of tf32: subnormals, overflow, inf, NaN
 *   compare     BITS; FLOAT_BITS: the same, but one NaN is as good as another; a number n: d + n products, each rounded
 *               on the
 *               way by at most one unit in the last place of the sum of their magnitudes
 */
#define WRAPPERS(WRAPPER)                                  \
    WRAPPER(cp_async16, 75, WORDS_ANY, BITS)               \
    WRAPPER(cp_async4, 75, WORDS_ANY, BITS)                \
    WRAPPER(cp_async_groups, 75, WORDS_ANY, BITS)          \
    WRAPPER(ldmatrix, 75, WORDS_ANY, BITS)                 \
    WRAPPER(ldmatrix_trans, 75, WORDS_ANY, BITS)           \
    WRAPPER(mma_f16_exact, 75, HALF_INTS, BITS)            \
    WRAPPER(mma_bf16_exact, 80, BF16_INTS, BITS)           \
    WRAPPER(mma_tf32_exact, 80, INTS, BITS)                \
    WRAPPER(mma_f16, 75, HALVES, 16)                       \
    WRAPPER(mma_bf16, 80, BF16S, 16)                       \
    WRAPPER(mma_tf32, 80, FLOATS, 8)                       \
    WRAPPER(named_barrier, 75, WORDS_ANY, BITS)            \
    WRAPPER(tma, SM_90A, WORDS_ANY, BITS)                  \
    WRAPPER(tma_4d, SM_90A, WORDS_ANY, BITS)               \
    WRAPPER(wgmma_boxes, SM_90A, HALF_INTS_ALL, BITS)      \
    WRAPPER(wgmma_cores, SM_90A, HALF_INTS_ALL, BITS)      \
    WRAPPER(wgmma_64, SM_90A, HALF_INTS_ALL, BITS)         \
    WRAPPER(wgmma_32, SM_90A, HALF_INTS_ALL, BITS)         \
    WRAPPER(wgmma_rows, SM_90A, HALF_INTS_ALL, BITS)       \
    WRAPPER(wgmma_bf16, SM_90A, BF16_INTS_ALL, BITS)       \
    WRAPPER(wgmma_shifted, SM_90A, HALF_INTS_ALL, BITS)    \
    WRAPPER(wgmma_shifted_mn, SM_90A, BF16_INTS_ALL, BITS) \
    WRAPPER(to_f16, 75, EDGES, BITS)                       \
    WRAPPER(to_bf16, 75, EDGES, BITS)                      \
    WRAPPER(to_tf32, 80, EDGES, BITS)                      \
    WRAPPER(from_f16, 75, WORDS_ANY, FLOAT_BITS)           \
    WRAPPER(from_bf16, 75, WORDS_ANY, FLOAT_BITS)          \
    WRAPPER(shuffle, 75, WORDS_ANY, BITS)                  \
    WRAPPER(shuffle_up, 75, WORDS_ANY, BITS)               \
    WRAPPER(shuffle_down, 75, WORDS_ANY, BITS)             \
    WRAPPER(shuffle_xor, 75, WORDS_ANY, BITS)              \
    WRAPPER(votes, 75, WORDS_ANY, BITS)                    \
    WRAPPER(reductions, 80, WORDS_ANY, BITS)

#define DECLARE(name, capability, input, compare)         \
    wrapper_run gr__cuda_run_##name, gr__simt_run_##name; \
    wrapper_expect expect_##name;
WRAPPERS(DECLARE)
#undef DECLARE

#ifdef __cplusplus
}
#endif
#endif
