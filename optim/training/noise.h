/*
 * noise.h - the gradient noise scale as training measures it: in updates whose batch comes in several pieces.
 */
#ifndef GRADUS_NOISE_H
#define GRADUS_NOISE_H

#include "optim/optimizer.h"

typedef struct {
    bool on;
    double first_norm, first_samples; /* of the first piece of the batch under way */
    gr_noise noise;
} gr_noise_meter;

/* Called behind the backward pass of every piece; does nothing unless on. Waits for the device. False: recorded. */
bool gr__noise_measure(gr_noise_meter *m, gr_optimizer *opt, const gr_batch *piece);

#endif
