/*
 * step_state.h - the numbers a step reads from the device: written before the step, never passed as launch arguments, so
 * that a captured graph can be replayed unchanged.
 */
#ifndef GRADUS_STEP_STATE_H
#define GRADUS_STEP_STATE_H

#include <stdint.h>

typedef struct {
    int64_t update;     /* updates attempted so far, this one included: 1, 2, ... */
    int64_t applied;    /* updates applied so far, this one included; Adam's bias correction counts these */
    double lr;          /* learning rate of this update */
    double loss_scale;  /* gradients are this much too large; 1 without mixed precision */
    double inv_weight;  /* 1 / sum of sample weights of the whole update; 0: a loss uses 1 / its own batch size */
    uint64_t seed;      /* of the context */
    int64_t draws;      /* micro-batches that have drawn random numbers so far: forward and backward see the same */
    int32_t skip;       /* 1: this update must change nothing (overflow) */
} gr_step_state;

#endif
