/*
 * sweep.h - a filter bank moved over rows of an image: a convolution's forward pass and, with other filters, its dX.
 *
 *   out[i][j][k] (+)= act(bias[k] + sum_{r < taps} sum_{d < depth} in[i in_row + r tap_row + j in_pixel + d] w[k,r,d])
 *
 * depth is a whole filter row, S*C numbers that lie side by side in an NHWC image. Padding is in the image already.
 */
#ifndef GRADUS_CPU_SWEEP_H
#define GRADUS_CPU_SWEEP_H

#include "kernels/cpu/tile.h"

typedef struct {
    const float *in; /* the first window's first element */
    int64_t in_row, in_pixel, tap_row;
    int64_t taps, depth;
    const float *w;    /* [panel][taps][depth][PANEL] */
    const float *bias; /* [panel][PANEL] or NULL */
    float *out;        /* [rows][cols][channels], pitches out_row and out_pixel */
    int64_t out_row, out_pixel;
    int64_t rows, cols, channels;
    bool accumulate, relu;
} sweep;

void GR_CPU(sweep_run)(const sweep *s);
#define sweep_run GR_CPU(sweep_run)

#endif
