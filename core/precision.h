/*
 * precision.h - what core/ asks of mixed precision. The engine runs calls of operations; which tensors of a call are
 * halves, where the halves of a float tensor come from and how a kernel for floats runs on halves is answered by amp/,
 * which is linked into the same library. Nothing else in core/ knows of it.
 */
#ifndef GRADUS_PRECISION_H
#define GRADUS_PRECISION_H

#include "core/op.h"

/* --- policy: what the types of ops.def mean in a precision (amp/policy.c) ----------------------------------------- */

/* Type of activations in a precision, on a device whose parameters have type real. */
gr_type gr__policy_compute(gr_precision precision, gr_type real);

/* The type that t must have to be given for an input slot. A float tensor may stand where a half is read. */
gr_type gr__policy_input(const gr_context *ctx, const gr_slot *slot, const gr_tensor *t);

/* The type of an output slot of a call whose inputs are there. */
gr_type gr__policy_output(const gr_build *b, const gr_slot *slot);

/* Whether there are halves in a call and the device has only a kernel for floats for it. */
bool gr__policy_widens(const gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass);

/* --- half copies of float tensors (amp/cast.c) -------------------------------------------------------------------- */

/* Puts half copies in place of the call's float inputs where its kernel reads halves. False: recorded. */
bool gr__cast_inputs(gr_build *b);

/* The values of t are about to change: copies made of it before are out of date. */
void gr__half_invalidate(gr_tensor *t);

/* Releases the copy of a step tensor that is itself being released. */
void gr__half_release(gr_tensor *t);

/* t += s, both of the same half type and shape, summed in floats. False: recorded. */
bool gr__half_add(gr_tensor *t, gr_tensor *s);

/* --- halves on kernels for floats (amp/widen.c) ------------------------------------------------------------------- */

/*
 * Runs one pass of a call in which some tensors are halves on a kernel for floats: widened copies in step memory, cut
 * into slices of samples where the operation allows it, results rounded to the nearest. False: recorded.
 */
bool gr__run_widened(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass);

/* --- the loss scale (amp/scaler.c) -------------------------------------------------------------------------------- */

/* Hands the end of the step state, which is on the device already, over to the loss scaler. False: recorded. */
bool gr__scaler_open(gr_context *ctx);

#endif
