/*
 * filters.h - filters, rounded to bf16 or split, and laid out as the right factor of tile products:
 * [piece][panel][tap][step][B_STEP], with zeros behind the last channel and the last filter. w[K,R,S,C] is of floats or
 * of bf16.
 */
#ifndef GRADUS_CPU_AMX_FILTERS_H
#define GRADUS_CPU_AMX_FILTERS_H

#include "kernels/cpu/amx/amx.h"

/* For the forward pass, panels of filters: w as [K][taps][depth]; a tap is the whole filter where cells are windows. */
void GR_TILED(filters_pack)(const gr_exec *exec, const gr_tensor *w, int64_t taps, int pieces, uint16_t *packed);
#define filters_pack GR_TILED(filters_pack)

/* The taps of a filter axis that dX reads at places of one phase of the stride: first, first + stride, ... */
typedef struct {
    int64_t first, count, stride;
} phase_taps;

/* For dX, panels of channels: the taps of one phase of both axes, the last one first, summed over the filters. */
void GR_TILED(filters_pack_turned)(const gr_exec *exec, const gr_tensor *w, phase_taps rows, phase_taps cols,
                                   int pieces, uint16_t *packed);
#define filters_pack_turned GR_TILED(filters_pack_turned)

/* Halves that a piece of filters takes: of panels over columns, taps, and a depth. */
INLINE int64_t filters_halves(int64_t columns, int64_t taps, int64_t depth)
{
    return ceil_div(columns, BLOCK) * taps * ceil_div(depth, STEP) * B_STEP;
}

#endif
