/* conv_dz.h - dz, the gradient of the convolution's own result: made from dY piece by piece, never stored whole. */
#ifndef GRADUS_CPU_CONV_DZ_H
#define GRADUS_CPU_CONV_DZ_H

#include "kernels/cpu/cpu.h"

/* Where dz[N,P,Q,K] comes from. */
typedef struct {
    const float *dy;    /* [N,P,Q,K], or [N,pool.p,pool.q,K] */
    const void *halves; /* dy of this type, in its place: for conv_pooled_colours_add alone */
    gr_type type;
    const float *y;        /* [N,P,Q,K]: dz = dy [y > 0]; NULL: dz = dy */
    const uint8_t *argmax; /* [N,pool.p,pool.q,K]: dy reaches the winners of pooling windows; NULL: no pooling */
    gr_geometry pool;
    int64_t p, q, k;
} conv_dz;

/*
 * Rows [row.begin, row.end), columns [col.begin, col.end) and channels [channel.begin, channel.end) of image n into
 * dst[row][col][step], of which pitch are written: zeros outside the image and from the last channel up to pitch.
 */
typedef struct {
    int64_t n;
    span row, col, channel;
} conv_box;
void GR_CPU(conv_dz_fill)(const conv_dz *dz, const conv_box *box, float *dst, int64_t pitch, int64_t step);
#define conv_dz_fill GR_CPU(conv_dz_fill)

/* sum[PANEL] += each row of dz[pixels][PANEL]: for db. */
void GR_CPU(conv_add_rows)(const float *dz, int64_t pixels, float *sum);
#define conv_add_rows GR_CPU(conv_add_rows)

#endif
