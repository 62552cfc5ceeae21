/*
 * slab.h - all parameters of a model in one piece of memory with a table of segments; their gradients likewise.
 *
 * An optimizer step, a norm, a cast or an all-reduce is one pass over a slab.
 */
#ifndef GRADUS_SLAB_H
#define GRADUS_SLAB_H

#include "core/tensor.h"

typedef struct {
    gr_tensor *value;    /* of the shape of the parameter, over the slab */
    int64_t offset;      /* elements from the start of the slab; a multiple of 64 */
    int64_t count;       /* elements */
    bool no_gradient;    /* its update is fused into its backward: it has no place in the gradient slab */
    int64_t grad_offset; /* elements from the start of the gradient slab; -1 while it has none */
} gr_segment;

typedef struct gr_slab {
    gr_context *ctx;
    int n;
    gr_segment *segments;
    gr_tensor *values;    /* 1-D, the whole slab; gaps between segments hold zeros */
    gr_tensor *gradients; /* 1-D, made at the first backward; NULL before */
    gr_tensor *halves;    /* 1-D, values in the context's half type, made at their first use; NULL before */
    bool moved;           /* values have changed since halves were made from them */
} gr_slab;

/* Lays n parameters of the given shapes out and allocates them, zero-filled. NULL: recorded. Owned by ctx. */
gr_slab *gr__slab_new(gr_context *ctx, int n, const int *ndim, const int64_t (*shape)[GR_MAX_DIMS]);

/* Makes (or enlarges) the gradient slab so that every segment that is not no_gradient has a place. Values are kept. */
bool gr__slab_make_gradients(gr_slab *slab);

/* The copy of a parameter in the context's half type; one cast brings all of the slab's up to date. NULL: recorded. */
gr_tensor *gr__slab_half(gr_tensor *parameter);

#endif
