/*
 * slab.h - all parameters of a model in one piece of memory with a table of segments; their gradients likewise.
 *
 *   segments      0 conv1.weight      1 conv1.bias  2 fc.weight (no_gradient)          3 fc.bias
 *
 *                 0                   896           960                                2560      offset, elements
 *                 +------------------++-----------++----------------------------------++--------++
 *   values        | 864              || 32        || 1600                             || 10     ||   float masters
 *                 +------------------++-----------++----------------------------------++--------++
 *   halves        | the same places, under mixed precision: what convolutions and dense layers read |
 *                 +------------------++-----------++----------------------------------++--------++
 *   moments       | the same places, one such slab each: the optimizer's; what is frozen has none  |
 *                 +------------------++-----------++----------------------------------++--------++
 *                 +------------------++-----------++--------++
 *   gradients     | conv1.weight     || conv1.bias || fc.bias ||   without those whose update is fused with backward
 *                 +------------------++-----------++--------++
 *                 0                   896          960           grad_offset
 *
 * Segments begin at multiples of 64 elements; the gaps (drawn as ||) hold zeros and stay zeros. So an optimizer step, a
 * norm, a cast or an all-reduce is one pass over a slab.
 */
#ifndef GRADUS_SLAB_H
#define GRADUS_SLAB_H

#include "core/tensor.h"

typedef struct {
    gr_tensor *value;     /* of the shape of the parameter, over the slab */
    int64_t offset;       /* elements from the start of the slab; a multiple of 64 */
    int64_t count;        /* elements */
    bool no_gradient;     /* its update is fused into its backward, or it is frozen: no place in the gradient slab */
    int64_t grad_offset;  /* elements from the start of the gradient slab; -1 while it has none */
    bool frozen;          /* nothing is to change it: no gradient, no moments */
    int64_t state_offset; /* elements from the start of a slab of moments; -1 where frozen */
} gr_segment;

typedef struct gr_slab {
    gr_context *ctx;
    int n;
    gr_segment *segments;
    gr_tensor *values;    /* 1-D, the whole slab; gaps between segments hold zeros */
    int64_t state_count;  /* elements of a slab of moments: as many as values, without those of frozen segments */
    gr_tensor *gradients; /* 1-D, made at the first backward; NULL before */
    gr_tensor *halves;    /* 1-D, values in the context's half type, made at their first use; NULL before */
    bool halves_stale;    /* values have changed, and halves not with them */
} gr_slab;

/* Lays n parameters of the given shapes out and allocates them, zero-filled. NULL: recorded. Owned by ctx. */
gr_slab *gr__slab_new(gr_context *ctx, int n, const int *ndim, const int64_t (*shape)[GR_MAX_DIMS]);

/* Makes (or enlarges) the gradient slab so that every segment that is not no_gradient has a place. Values are kept. */
bool gr__slab_make_gradients(gr_slab *slab);

/*
 * Freezes segment i: it wants no gradient any more and has no place among gradients and moments, so there must be none
 * yet.
 */
void gr__slab_freeze(gr_slab *slab, int i);

/* Whether t is a segment's value, and the segment is frozen. */
bool gr__is_frozen(const gr_tensor *t);

/* Behind the last of the segments from first on that are not frozen and lie side by side; first: it is frozen. */
int gr__slab_run_end(const gr_slab *slab, int first);

/* Elements from the start of segment first to the end of the one before last. */
int64_t gr__slab_span(const gr_slab *slab, int first, int last);

/* The gradients of segments first..last-1, which lie side by side, in one 1-D tensor of the step. NULL: recorded. */
gr_tensor *gr__slab_gradients(gr_slab *slab, int first, int last);

/* Elements from offset on of a 1-D slab, as a tensor of the step in the given shape. NULL: recorded. */
gr_tensor *gr__slab_piece(gr_tensor *slab, int64_t offset, int ndim, const int64_t *shape);

/* Points every segment at its place, after the memory of values or gradients was exchanged for another. */
void gr__slab_point(gr_slab *slab);

/* Whether a gradient of these parameters waits for its step. */
bool gr__slab_has_gradients(const gr_slab *slab);

/* Marks the gradients of these parameters empty. */
void gr__slab_clear_gradients(gr_slab *slab);

/*
 * Makes t, a tensor with storage of its own and the shape of segment i, that segment's value: its elements move into
 * the slab. False: recorded.
 */
bool gr__slab_adopt(gr_slab *slab, int i, gr_tensor *t);

#endif
