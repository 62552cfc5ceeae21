/*
 * tiles.h - tile instructions, or their twin, under one set of names. Registers are named by constants, 0 to 7.
 *
 * A thread sets its registers up by tiles_begin and gives them back by tiles_end: the system saves them with the thread
 * as long as they are in use.
 */
#ifndef GRADUS_CPU_TILES_H
#define GRADUS_CPU_TILES_H

#include "kernels/cpu/amx/amx.h"

#if defined(GR_TILES_PAIRS) /* product_pairs.c, which has nothing to set up */
INLINE void tiles_begin(void)
{
}
INLINE void tiles_end(void)
{
}
#elif defined(GR_TILES_EMULATED)
#include "kernels/cpu/amx/twin.h"

static _Thread_local twin_tile registers[8] __attribute__((unused));
#define tile_zero(i) twin_zero(registers + (i))
#define tile_load(i, from, stride) twin_load(registers + (i), from, stride)
#define tile_load_passing tile_load
#define tile_store(i, to, stride) twin_store(to, stride, registers + (i))
#define tile_dot(c, a, b) twin_dot(registers + (c), registers + (a), registers + (b))

INLINE void tiles_begin(void)
{
}
INLINE void tiles_end(void)
{
}
#else
#include <immintrin.h>

#define tile_zero _tile_zero
#define tile_load _tile_loadd
#define tile_load_passing _tile_stream_loadd /* with a hint that the data is not needed again */
#define tile_store _tile_stored
#define tile_dot _tile_dpbf16ps

/* All eight registers are 16 rows of 64 bytes. */
INLINE void tiles_begin(void)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&shapes);
}
INLINE void tiles_end(void)
{
    _tile_release();
}
#endif

#endif
