/*
 * augment.h - augmentation as a plan: steps in the order in which they happen to a picture, read from a line of text,
 * and drawn for a sample as one affine map. What the map does to pixels is the operation gr_augment.
 */
#ifndef GRADUS_AUGMENT_PLAN_H
#define GRADUS_AUGMENT_PLAN_H

#include "data/dataset.h"

enum {
    GR__PLAN_STEPS = 15, /* each draws from a Philox block of its own, the cutout from the sixteenth */
    GR__PLAN_REASON = 320,
    GR__PLAN_SIDE = 4096, /* the largest side of a picture on its way */
    GR__ANYWHERE_INSIDE = -1
};

typedef enum {
    GR__FLIP,
    GR__TRANSLATE,
    GR__SHIFT,
    GR__ROTATE,
    GR__SHEAR,
    GR__SCALE,
    GR__RESIZE,
    GR__CROP
} gr__step_kind;
typedef enum { GR__FLIP_RANDOM, GR__FLIP_ALTERNATE, GR__FLIP_ALWAYS } gr__flip_mode;

typedef struct {
    gr__step_kind kind;
    gr__flip_mode flip;
    double low, high; /* pixels, degrees or a factor, drawn uniformly between */
    int64_t size[2];  /* height and width after RESIZE or CROP */
    bool centred;     /* CROP: in the middle */
    int64_t at[2];    /* CROP: first row and column; GR__ANYWHERE_INSIDE: drawn. SHIFT: pixels down and to the right */
} gr__step;

struct gr__plan {
    int n;
    gr__step steps[GR__PLAN_STEPS];
    int64_t cutout; /* side of a square; 0: none */
    gr_resampling filter;
    gr_fill fill;
    bool doubled; /* the set is doubled: every sample as it is, then every sample augmented */
};

/* Reads a plan; "" and "none" have no steps. False: reason names the word and the cure. */
bool gr__plan_parse(const char *text, gr__plan *plan, char reason[GR__PLAN_REASON]);

/* Sides of a picture of sides from after the plan. False: a crop or the cutout does not fit; reason says which. */
bool gr__plan_size(const gr__plan *plan, const int64_t from[2], int64_t to[2], char reason[GR__PLAN_REASON]);

/* What is left of a plan for evaluation: sizes. Random crops become central ones. */
gr__plan gr__plan_still(const gr__plan *plan);

/* Whom a draw is for: the same numbers whatever the batch, the device and the thread. */
typedef struct {
    uint64_t seed;
    int64_t epoch, sample;
} gr__plan_key;

/* The map of one sample, as gr_augment takes it. */
void gr__plan_draw(const gr__plan *plan, const gr__plan_key *key, const int64_t from[2], int32_t map[GR_MAP]);

/* The map that leaves a picture as it is, cut off or filled up at the bottom and the right. */
void gr__plan_nothing(int32_t map[GR_MAP]);

/* --- sets with a plan --------------------------------------------------------------------------------------------- */

/* The map of a sample of a set that has a plan: the plan's, or none where the sample is the first of a pair. */
void gr__augment_sample(const gr_dataset *set, const gr__plan_key *key, int32_t map[GR_MAP]);

/* x of its batches from the pictures u8 [n, H, W, C] and their maps i32 [n, GR_MAP]. NULL: recorded. */
gr_tensor *gr__augment_batch(const gr_dataset *set, gr_tensor *x, gr_tensor *map);

#endif
