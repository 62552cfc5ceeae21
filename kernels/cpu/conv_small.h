/*
 * conv_small.h - convolution of a batch of small images: tiles across images instead of along rows.
 *
 * A row of 4 or 8 pixels does not fill a tile, and much of what lies under its windows is padding. So the images are
 * taken in groups, as many as a tile has rows, and copied with the images of a group interleaved:
 * [pixel][image][channel]. The rows of a tile are then one pixel of all these images, at a uniform distance; taps that
 * fall on padding are left out, not multiplied by zeros; and a panel of filters is read once a group, not once an
 * image. For a large image neither gain is worth the copy.
 */
#ifndef GRADUS_CPU_CONV_SMALL_H
#define GRADUS_CPU_CONV_SMALL_H

#include "kernels/cpu/conv.h"
#include "kernels/cpu/conv_dz.h"

/* Whether images are so small, and channels and filters so many, that groups of them are worth the copy. */
bool GR_CPU(conv_images_are_small)(const gr_geometry *g, int64_t k);
#define conv_images_are_small GR_CPU(conv_images_are_small)

/* Whether a convolution with k filters is to be computed this way: there are images enough for tiles, too. */
bool GR_CPU(conv_is_small)(const gr_geometry *g, int64_t k);
#define conv_is_small GR_CPU(conv_is_small)

/* How a batch is grouped. Scratch holds at_once groups; one step after the other does them all. */
typedef struct {
    int64_t n, count, most, at_once; /* images, groups, images of a group at most */
} image_groups;

image_groups GR_CPU(conv_groups)(int64_t n, int64_t floats_of_image);
#define conv_groups GR_CPU(conv_groups)

/* Copies channels of pixel rows [row.begin, row.end) of a group to dst[pixel][image][pitch], zeros up to pitch. */
void GR_CPU(conv_interleave)(const conv_dz *from, span images, span row, span channel, float *dst, int64_t pitch);
#define conv_interleave GR_CPU(conv_interleave)

/* Forward, or with `turned` dX: the filters turned round, from [P,Q] to [H,W]. */
typedef struct {
    gr_geometry g;
    bool turned;
    int64_t depth, channels; /* of an input pixel, of an output pixel */
    image_groups groups;
    conv_dz from;  /* the input. x is copied like a dz: .dy = x */
    float *pixels; /* [group at once][pixel][image][pitch] */
    int64_t pitch;
    const float *w;    /* [panel of channels][R][S][depth][PANEL] */
    const float *bias; /* [panel][PANEL] or NULL */
    float *out;        /* [N][pixel][channels] */
    bool accumulate, relu;
    int64_t first, held, splits; /* groups now in scratch; parts of the output rows */
} small_sweep;

/* g, turned, depth and channels are set; takes scratch. */
void GR_CPU(small_sweep_plan)(small_sweep *s, scratch *scratch);
#define small_sweep_plan GR_CPU(small_sweep_plan)

void GR_CPU(small_sweep_run)(const gr_exec *exec, small_sweep *s);
#define small_sweep_run GR_CPU(small_sweep_run)

/* Whether dW is: its tiles are channels, whatever the number of images. */
bool GR_CPU(conv_small_grad_w_fits)(const gr_geometry *g, int64_t k);
#define conv_small_grad_w_fits GR_CPU(conv_small_grad_w_fits)

/* dW, and sums [panel][PANEL] for db, NULL: not wanted. */
typedef struct {
    gr_geometry g;
    int64_t panels, parts; /* of filters; of the channels */
    int64_t together;      /* parts of a chunk */
    image_groups groups;
    const float *x; /* [N,H,W,C] */
    conv_dz dz;
    int64_t row_places;          /* pixels of a row of x as copied */
    float *x_parts;              /* [group at once][part][row][place][image][channel of the part] */
    float *dz_panels;            /* [group at once][panel][pixel][image][PANEL] */
    int64_t x_floats, dz_floats; /* of one [part] or [panel] */
    float *sums;                 /* [chunk][R*S][channel of its parts][PANEL]; NULL where all groups are at once */
    conv_dw dw;
    float *db;
    int64_t first, held;
} small_grad_w;

void GR_CPU(small_grad_w_plan)(small_grad_w *f, scratch *scratch);
#define small_grad_w_plan GR_CPU(small_grad_w_plan)

void GR_CPU(small_grad_w_run)(const gr_exec *exec, small_grad_w *f);
#define small_grad_w_run GR_CPU(small_grad_w_run)

#endif
