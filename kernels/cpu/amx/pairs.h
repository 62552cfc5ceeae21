/*
 * pairs.h - vdpbf16ps of AVX512-BF16 on 16 floats, or its twin in plain C, under one set of names.
 *
 * The instruction adds to each float the product of the odd halves of a pair and then that of the even ones, as
 * Intel's manual has it (volume 2): two fused multiply-adds, each rounded to nearest, ties to even, that read and write
 * subnormal numbers as zero. The twin does the last by the mode in which all kernels of this device run
 * (core/float_mode.h); the instruction always does.
 */
#ifndef GRADUS_CPU_AMX_PAIRS_H
#define GRADUS_CPU_AMX_PAIRS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/bf16.h"

#if defined(GR_TILES_EMULATED)
typedef struct {
    uint32_t bits[16]; /* of a float, or of a pair of halves */
} lanes;

static inline __attribute__((always_inline)) lanes lanes_load(const void *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline __attribute__((always_inline)) void lanes_store(float *p, lanes v)
{
    memcpy(p, &v, sizeof v);
}

/* The pair of halves at p in every lane. */
static inline __attribute__((always_inline)) lanes lanes_pair(const uint16_t *p)
{
    lanes v;
    memcpy(v.bits, p, sizeof *v.bits);
    for (int i = 1; i < 16; i++)
        v.bits[i] = v.bits[0];
    return v;
}

static inline __attribute__((always_inline)) float lane_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* vdpbf16ps: c += a b, of pairs. */
static inline __attribute__((always_inline)) lanes lanes_dot(lanes c, lanes a, lanes b)
{
    const uint32_t odd = 0xFFFF0000;
    for (int i = 0; i < 16; i++) {
        const uint32_t x = a.bits[i], y = b.bits[i];
        float sum = fmaf(lane_float(x & odd), lane_float(y & odd), lane_float(c.bits[i]));
        sum = fmaf(lane_float(x << 16), lane_float(y << 16), sum);
        memcpy(&c.bits[i], &sum, sizeof sum);
    }
    return c;
}

/* 16 floats each of two rows, rounded, in pairs. */
static inline __attribute__((always_inline)) lanes lanes_round(const float *low, const float *high)
{
    uint16_t two[2][16];
    lanes v;
    for (int i = 0; i < 16; i += VL) {
        to_bf16(two[0] + i, vec_load(low + i));
        to_bf16(two[1] + i, vec_load(high + i));
    }
    for (int i = 0; i < 16; i++)
        v.bits[i] = two[0][i] | (uint32_t)two[1][i] << 16;
    return v;
}
#else
#include <immintrin.h>

typedef __m512 lanes;

#define lanes_load(p) _mm512_loadu_ps(p)
#define lanes_store(p, v) _mm512_storeu_ps(p, v)
#define lanes_dot(c, a, b) _mm512_dpbf16_ps(c, (__m512bh)(a), (__m512bh)(b))

static inline __attribute__((always_inline)) lanes lanes_pair(const uint16_t *p)
{
    int32_t pair;
    memcpy(&pair, p, sizeof pair);
    return (lanes)_mm512_set1_epi32(pair);
}

static inline __attribute__((always_inline)) lanes lanes_round(const float *low, const float *high)
{
    const __m512i number = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i behind = _mm512_slli_epi32(_mm512_add_epi32(number, _mm512_set1_epi32(16)), 16);
    const __m512i rows = (__m512i)_mm512_cvtne2ps_pbh(lanes_load(high), lanes_load(low)); /* low, then high */
    return (lanes)_mm512_permutexvar_epi16(_mm512_or_si512(number, behind), rows);
}
#endif

#endif
