/*
 * amp.h - the public face of amp/: mixed precision's loss scale.
 *
 * What runs in which type is said in kernels/ops/ops.def, once for every device. Gradients in f16 below 2^-24 would be
 * 0 and above 65504 infinite. So losses' gradients are multiplied by a scale that is as large as the model bears: it
 * begins at 65536, doubles after 2000 updates without an overflow, and an update with an infinity or NaN among its
 * gradients is skipped as if it had never been, halving the scale. All this happens on the device; the host need not
 * wait.
 */
#ifndef GRADUS_AMP_H
#define GRADUS_AMP_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double scale;    /* of the coming update; 1 where there is no loss scale */
    int64_t skipped; /* updates so far that were skipped */
    bool stuck;      /* several updates one after the other overflowed although the scale was at its floor of 1 */
} gr_scaling;

/* The loss scale of a context with GR_PRECISION_FP16 as it is now. Waits for the device. */
gr_scaling gr_loss_scaling(const gr_context *ctx);

/* Sets the scale of the coming updates, a positive power of two at most 2^24. False: recorded. */
bool gr_set_loss_scale(gr_context *ctx, double scale);

#ifdef __cplusplus
}
#endif
#endif
