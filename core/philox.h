/*
 * philox.h - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3" (SC'11). A draw is a pure function of what it is for: no state, the same on every device.
 */
#ifndef GRADUS_PHILOX_H
#define GRADUS_PHILOX_H

#include <stdint.h>

/* What a stream of numbers is for. Values are part of the file format of "same seed, same bits": never renumber. */
typedef enum {
    GR_RNG_INIT = 1,       /* initial weights: (seed, parameter index, element) */
    GR_RNG_SHUFFLE = 2,    /* order of an epoch: (seed, epoch, position) */
    GR_RNG_SPLIT = 3,      /* order of files before a split: (split seed, class, position) */
    GR_RNG_PROCEDURAL = 4, /* the built-in sets: (seed, sample, draw) */
    GR_RNG_DROPOUT = 5,    /* what dropout keeps: (seed, micro-batch, call, element), see kernels/ops/dropout.h */
    GR_RNG_AUGMENT = 6 /* what becomes of a sample: (seed, epoch, sample, step), see data/augmentation/augment_draw.c */
} gr_rng_purpose;

/* out = Philox4x32-10(counter, key). */
void gr__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Block i of stream (seed, purpose, a): the random bits of indices 4 i to 4 i + 3. */
void gr__random_block(uint64_t seed, gr_rng_purpose purpose, uint32_t a, uint64_t i, uint32_t out[4]);

/* 32 random bits of stream (seed, purpose, a) at index i: word i%4 of block i/4. */
uint32_t gr__random_bits(uint64_t seed, gr_rng_purpose purpose, uint32_t a, uint64_t i);

/* Uniform in [0, 1): the upper 24 bits, exact in float. */
float gr__random_uniform(uint64_t seed, gr_rng_purpose purpose, uint32_t a, uint64_t i);

/*
 * A random order of 0..n-1 (Fisher-Yates, Lemire's unbiased bound left out: n < 2^32 keeps the bias below 2^-32 * n).
 */
void gr__random_order(uint64_t seed, gr_rng_purpose purpose, uint32_t a, int64_t n, int64_t *order);

#endif
