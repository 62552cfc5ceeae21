/* turn.h - rows of halves into columns. */
#ifndef GRADUS_CPU_AMX_TURN_H
#define GRADUS_CPU_AMX_TURN_H

#include "kernels/cpu/amx/amx.h"

/* rows[STEP][STEP] to turned[column][STEP], with a pitch. */
INLINE void turn(const uint16_t *rows, uint16_t *turned, int64_t pitch)
{
    float pairs[TILE * STEP] __attribute__((aligned(64))); /* of columns: [pair][row] */
    transpose((const float *)rows, TILE, STEP, TILE, pairs, STEP);
    for (int64_t i = 0; i < TILE; i++, turned += 2 * pitch) {
        uint32_t two[STEP];
        memcpy(two, pairs + i * STEP, sizeof two);
        for (int64_t j = 0; j < STEP; j++)
            turned[j] = (uint16_t)two[j];
        for (int64_t j = 0; j < STEP; j++)
            turned[pitch + j] = (uint16_t)(two[j] >> 16);
    }
}

#endif
