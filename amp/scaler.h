/*
 * scaler.h - the loss scale as optimizers use it. Where the context has none each of these does nothing. Whether an
 * update is skipped is decided and remembered on the device: the host is never waited for.
 */
#ifndef GRADUS_SCALER_H
#define GRADUS_SCALER_H

#include "core/context.h"
#include "core/slab.h"

/*
 * Has the step state count the skipped updates of one optimizer, *skips so far, which stays a place to keep the count
 * when it is another's turn. Waits for the device where it has counted another's. False: recorded.
 */
bool gr__scaler_take_turn(gr_context *ctx, float *skips);

/*
 * Takes the loss scale out of every gradient of the slab that has been written. One that is not finite has the update
 * skipped. False: recorded.
 */
bool gr__scaler_unscale(gr_slab *slab);

/* Has the update skipped if x, of which a gradient is yet to be made, is not finite. False: recorded. */
bool gr__scaler_inspect(gr_tensor *x);

/* The update is over: raises or lowers the scale and forgets the skip. False: recorded. */
bool gr__scaler_update(gr_context *ctx);

#endif
