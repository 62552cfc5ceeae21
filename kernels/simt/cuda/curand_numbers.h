/*
 * curand_numbers.h - from random bits to numbers, for kernels (curand_kernel.h) and for the host's generators, and the
 * parts of the generators that are the same for both (runtime/random_bits.c).
 */
#ifndef GRADUS_CUDA_CURAND_NUMBERS_H
#define GRADUS_CUDA_CURAND_NUMBERS_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* XORWOW: the state for a seed; the state so many times 2^power numbers further on (power at most 67). */
void gr__cuda_xorwow_seed(uint64_t seed, uint32_t *d, uint32_t v[5]);
void gr__cuda_xorwow_jump(uint32_t v[5], int power, uint64_t times);

/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). */
void gr__cuda_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#ifdef __cplusplus
}
#endif

/* Marsaglia, "Xorshift RNGs", 2003, page 5. */
static inline __attribute__((always_inline)) uint32_t gr__curand_xorwow(uint32_t *d, uint32_t v[5])
{
    const uint32_t t = v[0] ^ v[0] >> 2, last = v[4];
    v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = last;
    v[4] = last ^ last << 4 ^ t ^ t << 1;
    *d += 362437;
    return v[4] + *d;
}

/* In (0, 1]. */
static inline float gr__curand_uniform(uint32_t x) { return (float)x * 0x1p-32f + 0x1p-33f; }
static inline double gr__curand_uniform_double(uint32_t low, uint32_t high)
{
    return (double)(low ^ (uint64_t)high << 21) * 0x1p-53 + 0x1p-54;
}

/* Box and Muller: two normal numbers of two uniform ones. */
static inline void gr__curand_normal(uint32_t x, uint32_t y, float out[2])
{
    const float two_pi = 6.2831855f * 0x1p-32f, angle = (float)y * two_pi + two_pi / 2;
    const float length = sqrtf(-2 * logf(gr__curand_uniform(x)));
    out[0] = length * sinf(angle), out[1] = length * cosf(angle);
}
static inline void gr__curand_normal_double(double x, double y, double out[2])
{
    const double length = sqrt(-2 * log(x)), angle = 2 * 3.14159265358979323846 * y;
    out[0] = length * sin(angle), out[1] = length * cos(angle);
}

#endif
