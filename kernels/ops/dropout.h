/*
 * dropout.h - the numbers that dropout draws, the same in every kernel: Philox4x32-10 with the seed as its key and the
 * counter (element / 4, micro-batch, call, purpose). Element i takes word i % 4. Counters have 32 bits: a tensor of
 * 2^34 elements or 2^32 micro-batches would begin to repeat themselves.
 */
#ifndef GRADUS_DROPOUT_H
#define GRADUS_DROPOUT_H

#include "core/philox.h"
#include "kernels/ops/kernels.h"

/* The words of elements 4 block .. 4 block + 3. */
static inline void gr__dropout_words(const gr_call *call, int64_t block, uint32_t words[4])
{
    const gr_step_state *state = call->exec->state;
    const gr__dropout_args *args = (const gr__dropout_args *)call->options;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)state->draws, args->draw, GR_RNG_DROPOUT};
    const uint32_t key[2] = {(uint32_t)state->seed, (uint32_t)(state->seed >> 32)};
    gr__philox(counter, key, words);
}

/* The smallest 24-bit number that is kept: u >= rate with u = (word >> 8) / 2^24. At most 2^24, which none reaches. */
static inline uint32_t gr__dropout_threshold(double rate)
{
    uint32_t threshold = (uint32_t)(rate * 0x1p24);
    return threshold + (threshold * 0x1p-24 < rate);
}

#endif
