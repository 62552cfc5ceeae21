/*
 * conv.h - the parts of a convolution that conv2d and conv2d_relu_max_pool share.
 *
 * Work is cut into units of some output rows of one image. A unit reads its rows of x where they lie or, where there is
 * padding or they are halves, from a strip: a copy of a few rows as floats, with the padding around them. Neighbouring
 * units form a chunk, which has a strip of its own.
 */
#ifndef GRADUS_CPU_CONV_H
#define GRADUS_CPU_CONV_H

#include "kernels/cpu/ahead.h"

/* Most chunks of a call: enough for many processors, few enough for strips and partial sums to stay small. */
enum { CONV_CHUNKS = 32 };

/* Chunks for a number of units when each needs so many floats of its own: 8 MiB together, but at least four. */
int64_t GR_CPU(conv_chunks)(int64_t units, int64_t floats_each);
#define conv_chunks GR_CPU(conv_chunks)

/* Rows of a unit when each of `rows` takes so many floats: 64 KiB together, and 16 units among all n images. */
int64_t GR_CPU(conv_unit_rows)(int64_t n, int64_t rows, int64_t floats_each);
#define conv_unit_rows GR_CPU(conv_unit_rows)

/* --- x, with its padding ------------------------------------------------------------------------------------------ */

/* How a convolution reads its input rows: as floats, whatever they are. */
typedef struct {
    gr_geometry g;
    gr_type type;
    bool copied;   /* to a strip */
    int64_t pitch; /* floats of a row as read */
} conv_input;

conv_input GR_CPU(conv_input_of)(const gr_geometry *g, gr_type type);
#define conv_input_of GR_CPU(conv_input_of)

/* Floats of a strip for output rows that many; 0 where none is needed. */
int64_t GR_CPU(conv_strip)(const conv_input *in, int64_t rows);
#define conv_strip GR_CPU(conv_strip)

/* The first window of output row p of image n: in x[N,H,W,C], or in the strip after filling it for so many rows. */
const float *GR_CPU(conv_rows)(const conv_input *in, const void *x, int64_t n, int64_t p, int64_t rows, float *strip);
#define conv_rows GR_CPU(conv_rows)

/* So many rows of x, those of all images in one, behind what output rows up to end of image n read; of a large x. */
memory_run GR_CPU(conv_ahead)(const conv_input *in, const void *x, int64_t n, int64_t end, int64_t rows);
#define conv_ahead GR_CPU(conv_ahead)

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* Filters for a sweep: w[K,R,S,C] to packed[panel][R*S*C][PANEL], and b[K] (or NULL: zeros) to bias[panel][PANEL]. */
void GR_CPU(conv_pack)(const gr_call *call, float *packed, float *bias);
#define conv_pack GR_CPU(conv_pack)

/* The bias alone. */
void GR_CPU(conv_pack_bias)(const gr_call *call, float *bias);
#define conv_pack_bias GR_CPU(conv_pack_bias)

/* --- dW ----------------------------------------------------------------------------------------------------------- */

/* Where dW goes. */
typedef struct {
    float *dw;        /* [K,R,S,C], or NULL: not wanted */
    int64_t k, r_s_c; /* filters; R*S*C */
    bool accumulate;  /* dw += */
} conv_dw;

/* Numbers [at, at + count) of R*S*C of a panel of filters, from sums[count][PANEL]. */
void GR_CPU(conv_give)(const conv_dw *to, int64_t panel, int64_t at, int64_t count, const float *sums);
#define conv_give GR_CPU(conv_give)

#endif
