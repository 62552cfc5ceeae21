/*
 * amx.h - what the kernels for bf16 on tile registers share: names, sizes, and memory as they see it.
 *
 * The files of this folder are compiled twice: with GR_TILES=amx on the processor's tile instructions, beside the
 * kernels for AVX-512, and with GR_TILES=amx_emulated on their twin in plain C, beside the plain ones. What both
 * compute has the same bits: nothing here but the tiles adds products up, and how work is cut knows no vector length.
 */
#ifndef GRADUS_CPU_AMX_H
#define GRADUS_CPU_AMX_H

#include "kernels/cpu/bf16.h"
#include "kernels/cpu/cpu.h"

#define GR_TILES_JOIN(tiles, name) gr__cpu_##tiles##_##name
#define GR_TILES_EXPAND(tiles, name) GR_TILES_JOIN(tiles, name)
#define GR_TILED(name) GR_TILES_EXPAND(GR_TILES, name) /* GR_TILED(conv2d_forward): gr__cpu_amx_conv2d_forward */

#define GR_HOOK(name, hook) GR_DECLARE_##hook(GR_TILED(name##_##hook))
#define GR_ROUNDS(name, slot)
#include "kernels/cpu/amx/hooks.def"
#undef GR_HOOK
#undef GR_ROUNDS

/*
 * A tile register has 16 rows of 64 bytes. A product of tiles c[16][16] += a[16][32] b[32][16] reads b in pairs of
 * rows: b[pair][column][2], so that the two halves that are multiplied together lie in one float's place.
 */
enum {
    TILE = 16,               /* rows of a and c, columns of c, pairs of b */
    STEP = 32,               /* halves of a row of a: what one product of tiles adds up */
    BLOCK = 2 * TILE,        /* rows and columns of c that are computed together: four tiles */
    B_STEP = 2 * TILE * STEP /* halves of b for a step of a block: [2][pair][16][2] */
};

/* Scratch for so many halves. */
INLINE uint16_t *scratch_halves(scratch *s, int64_t halves)
{
    return (uint16_t *)scratch_take(s, ceil_div(halves, 2));
}

/* to[0..n) = from[0..n) */
INLINE void halves_copy(const uint16_t *from, uint16_t *to, int64_t n)
{
    for (int64_t i = 0; i < n; i += VL)
        hvec_store_n(to + i, hvec_load_n(from + i, min64(VL, n - i)), min64(VL, n - i));
}

/* to[0..STEP) = the first n of from, and zeros; n may be negative or more. */
INLINE void step_copy(const uint16_t *from, uint16_t *to, int64_t n)
{
    const int64_t there = max64(0, min64(STEP, n));
#if defined(__AVX512BW__)
    const __m512i v = _mm512_maskz_loadu_epi16((__mmask32)((UINT64_C(1) << there) - 1), from);
    memcpy(to, &v, sizeof v);
#else
    memcpy(to, from, (size_t)there * sizeof *to);
    memset(to + there, 0, (size_t)(STEP - there) * sizeof *to);
#endif
}

/* to[0..n) stays where the gate is above 0 or a NaN, else it is 0: a subnormal number is not above it. */
INLINE void halves_gate(const uint16_t *gate, uint16_t *to, int64_t n)
{
    typedef int16_t signed_hvec __attribute__((vector_size(sizeof(hvec))));
    for (int64_t i = 0; i < n; i += VL) {
        const int64_t some = min64(VL, n - i);
        const hvec g = hvec_load_n(gate + i, some);
        hvec_store_n(to + i, hvec_load_n(to + i, some) & ((hvec)((signed_hvec)g >= 0x0080) | (hvec)(g > 0xFF80)), some);
    }
}

/* pairs[i] = (low[i], high[i]), i < n. */
INLINE void pair_up(const uint16_t *low, const uint16_t *high, uint16_t *pairs, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t both = low[i] | (uint32_t)high[i] << 16;
        memcpy(pairs + 2 * i, &both, sizeof both);
    }
}

#endif
