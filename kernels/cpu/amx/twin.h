/*
 * twin.h - the tile instructions of AMX in plain C, bit for bit but for which NaN comes out.
 *
 * tdpbf16ps is written down in Intel's manual (volume 2): for every element of c the products of the even and of the
 * odd halves are summed up apart, from zero, each by fused multiply-adds; then the two sums are added, and their sum
 * to c. Everything is rounded to nearest, ties to even, and subnormal numbers count as zero, read or written. The last
 * is so here because of the mode in which all kernels of this device run (core/float_mode.h).
 */
#ifndef GRADUS_CPU_TWIN_H
#define GRADUS_CPU_TWIN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * What sees registers alone, in loops of constant lengths: sanitizers find nothing in it, and make it twenty times as
 * slow.
 */
#define TWIN_OF_REGISTERS __attribute__((no_sanitize("address", "undefined")))

/* A tile register of 16 rows of 64 bytes. */
typedef union {
    uint16_t half[16][32];
    float real[16][16];
} twin_tile;

static inline void twin_zero(twin_tile *t)
{
    memset(t, 0, sizeof *t);
}

/* tileloadd, tilestored: rows at a distance in bytes */
static inline void twin_load(twin_tile *t, const void *from, int64_t stride)
{
    for (int i = 0; i < 16; i++)
        memcpy(t->half[i], (const char *)from + i * stride, sizeof t->half[i]);
}

static inline void twin_store(void *to, int64_t stride, const twin_tile *t)
{
    for (int i = 0; i < 16; i++)
        memcpy((char *)to + i * stride, t->half[i], sizeof t->half[i]);
}

static inline TWIN_OF_REGISTERS float twin_widen(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* c += a b, with b as floats: those of the even and of the odd halves. */
static inline __attribute__((always_inline)) TWIN_OF_REGISTERS void twin_sum(twin_tile *c, const twin_tile *a,
                                                                             float even_b[16][16], float odd_b[16][16])
{
    for (int m = 0; m < 16; m++) {
        float even[16] = {0}, odd[16] = {0};
        for (int k = 0; k < 16; k++) {
            const float even_a = twin_widen(a->half[m][2 * k]), odd_a = twin_widen(a->half[m][2 * k + 1]);
            for (int n = 0; n < 16; n++) {
                even[n] = fmaf(even_a, even_b[k][n], even[n]);
                odd[n] = fmaf(odd_a, odd_b[k][n], odd[n]);
            }
        }
        for (int n = 0; n < 16; n++) {
            const float sum = even[n] + odd[n];
            c->real[m][n] += sum;
        }
    }
}

#if defined(__x86_64__)
/* The same, where fmaf is an instruction and no call: tens of times as fast. */
static __attribute__((target("avx2,fma"))) TWIN_OF_REGISTERS void
twin_sum_fma(twin_tile *c, const twin_tile *a, float even_b[16][16], float odd_b[16][16])
{
    twin_sum(c, a, even_b, odd_b);
}
#endif

/* tdpbf16ps */
static inline TWIN_OF_REGISTERS void twin_dot(twin_tile *c, const twin_tile *a, const twin_tile *b)
{
    float even_b[16][16], odd_b[16][16];
    for (int k = 0; k < 16; k++)
        for (int n = 0; n < 16; n++) {
            even_b[k][n] = twin_widen(b->half[k][2 * n]);
            odd_b[k][n] = twin_widen(b->half[k][2 * n + 1]);
        }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        twin_sum_fma(c, a, even_b, odd_b);
        return;
    }
#endif
    twin_sum(c, a, even_b, odd_b);
}

#endif
