/*
 * conv.h - the parts of a convolution that conv2d and conv2d_relu_max_pool share.
 *
 * Work is cut into units of some output rows of one image. A unit reads its rows of x where they lie or, where there is
 * padding, from a strip: a copy of a few rows with the padding around them. Neighbouring units form a chunk, which has
 * a strip of its own.
 */
#ifndef GRADUS_CPU_CONV_H
#define GRADUS_CPU_CONV_H

#include "kernels/cpu/sweep.h"

/* Most chunks of a call: enough for many processors, few enough for strips and partial sums to stay small. */
enum { CONV_CHUNKS = 32 };

/* Chunks for a number of units when each needs so many floats of its own: 8 MiB together, but at least four. */
int64_t GR_CPU(conv_chunks)(int64_t units, int64_t floats_each);
#define conv_chunks GR_CPU(conv_chunks)

/* Rows of a unit when each of `rows` takes so many floats: 64 KiB together, and 16 units among all n images. */
int64_t GR_CPU(conv_unit_rows)(int64_t n, int64_t rows, int64_t floats_each);
#define conv_unit_rows GR_CPU(conv_unit_rows)

/* --- x, with its padding ------------------------------------------------------------------------------------------ */

/* How a convolution reads its input rows. */
typedef struct {
    gr_geometry g;
    bool padded;   /* through a strip */
    int64_t pitch; /* floats of a row as read */
} conv_input;

conv_input GR_CPU(conv_input_of)(const gr_geometry *g);
#define conv_input_of GR_CPU(conv_input_of)

/* Floats of a strip for output rows that many; 0 where none is needed. */
int64_t GR_CPU(conv_strip)(const conv_input *in, int64_t rows);
#define conv_strip GR_CPU(conv_strip)

/* The first window of output row p of image n: in x[N,H,W,C], or in the strip after filling it for so many rows. */
const float *GR_CPU(conv_rows)(const conv_input *in, const float *x, int64_t n, int64_t p, int64_t rows, float *strip);
#define conv_rows GR_CPU(conv_rows)

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* Filters for a sweep: w[K,R,S,C] to packed[panel][R*S*C][PANEL], and b[K] (or NULL: zeros) to bias[panel][PANEL]. */
void GR_CPU(conv_pack)(const gr_call *call, float *packed, float *bias);
#define conv_pack GR_CPU(conv_pack)

/* The bias alone. */
void GR_CPU(conv_pack_bias)(const gr_call *call, float *bias);
#define conv_pack_bias GR_CPU(conv_pack_bias)

/* --- dz: the gradient of the convolution's own result ------------------------------------------------------------- */

/* Where dz[N,P,Q,K] comes from. It is never stored whole. */
typedef struct {
    const float *dy;       /* [N,P,Q,K], or [N,pool.p,pool.q,K] */
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

/*
 * --- gradients, for both operations: slots x 0, w 1, b 2. For their scratch, dz need say no more than its sizes and
 * pooling windows.
 */

size_t GR_CPU(conv_backward_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_backward_scratch GR_CPU(conv_backward_scratch)

void GR_CPU(conv_backward)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_backward GR_CPU(conv_backward)

/* Its two halves: dX, then dW and db. Both use scratch from its beginning. */
size_t GR_CPU(conv_grad_x_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
size_t GR_CPU(conv_grad_w_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
void GR_CPU(conv_grad_x)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
void GR_CPU(conv_grad_w)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_grad_x_scratch GR_CPU(conv_grad_x_scratch)
#define conv_grad_w_scratch GR_CPU(conv_grad_w_scratch)
#define conv_grad_x GR_CPU(conv_grad_x)
#define conv_grad_w GR_CPU(conv_grad_w)

#endif
