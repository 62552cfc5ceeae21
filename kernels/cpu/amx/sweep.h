/*
 * sweep.h - a filter bank moved over images: the forward pass of a convolution, and its dX.
 */
#ifndef GRADUS_CPU_AMX_SWEEP_H
#define GRADUS_CPU_AMX_SWEEP_H

#include "kernels/cpu/amx/cells.h"

typedef struct {
    cell_layout cells;
    tiled_images from;
    int64_t channels;  /* of an output pixel */
    const uint16_t *w; /* [piece][panel of BLOCK channels][tap][step][B_STEP] */
    const float *bias; /* [channels] or NULL */
    gr_type type;      /* of results; distances in elements: */
    void *out;
    int64_t out_image, out_row, out_pixel;
    bool accumulate, relu;

    /* By the plan: units of some groups, or of some output rows of one, are copied, then multiplied. */
    int64_t panels, unit_groups, rows, blocks, units, at_once, splits;
    int64_t group_halves, unit_halves;
    uint16_t *copies; /* [piece][unit at once][group][row][..] */
    int64_t *offsets; /* [tap] */
    int64_t first;    /* unit now at work */
} tiled_sweep;

/* cells, from.pieces and channels are set; takes scratch. */
void GR_TILED(sweep_plan)(tiled_sweep *s, scratch *room);
#define tiled_sweep_plan GR_TILED(sweep_plan)

void GR_TILED(sweep_run)(const gr_exec *exec, tiled_sweep *s);
#define tiled_sweep_run GR_TILED(sweep_run)

#endif
