/*
 * step_state.h - the numbers a step reads from the device: written before the step, never passed as launch arguments,
 * so that a captured graph can be replayed unchanged.
 */
#ifndef GRADUS_STEP_STATE_H
#define GRADUS_STEP_STATE_H

#include <stdint.h>

typedef struct {
    int64_t update;    /* updates attempted so far, this one included: 1, 2, ... */
    double lr;         /* learning rate of this update */
    double inv_weight; /* 1 / sum of sample weights of the whole update; 0: a loss uses 1 / its own batch size */
    uint64_t seed;     /* of the context */
    int64_t draws;     /* micro-batches that have drawn random numbers so far: forward and backward see the same */
    /*
     * From here on the loss scaler's: once a context has one, only its kernels (unscale, loss_scale) write them, and
     * the host need not be waited for. Floats, to be a tensor; counts are exact up to 2^24.
     */
    float loss_scale; /* losses' gradients are multiplied by it; a power of two, 1 without mixed precision */
    float skip;       /* 1: this update must change nothing, there is an infinity or NaN among its gradients */
    float clean;      /* updates since the scale last changed, none of them skipped */
    float skipped; /* updates skipped so far: update - skipped have been applied, which Adam's bias correction counts */
    float floored; /* updates skipped one after the other while the scale was at its floor */
} gr_step_state;

/* The values from loss_scale on, as a tensor has them. */
enum { GR_SCALER_SCALE, GR_SCALER_SKIP, GR_SCALER_CLEAN, GR_SCALER_SKIPPED, GR_SCALER_FLOORED, GR_SCALER_VALUES };

#endif
