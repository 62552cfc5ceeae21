/*
 * precision.h - what core/ asks of mixed precision. The engine runs calls of operations; which tensors of a call are
 * halves, where the halves of a float tensor come from and how a kernel for floats runs on halves is answered by a
 * table of functions that a context is opened with: core/ calls nothing above it by name.
 */
#ifndef GRADUS_PRECISION_H
#define GRADUS_PRECISION_H

#include "core/op.h"

typedef struct gr_mixed_precision {
    /* --- policy: what the types of ops.def mean in a precision --- */

    /* Type of activations in a precision, on a device whose parameters have type real. */
    gr_type (*compute_type)(gr_precision precision, gr_type real);

    /* The type that t must have to be given for an input slot. A float tensor may stand where a half is read. */
    gr_type (*input_type)(const gr_context *ctx, const gr_slot *slot, const gr_tensor *t);

    /* The type of an output slot of a call whose inputs are there. */
    gr_type (*output_type)(const gr_build *b, const gr_slot *slot);

    /* --- half copies of float tensors --- */

    /* Puts half copies in place of the call's float inputs where its kernel reads halves. False: recorded. */
    bool (*cast_inputs)(gr_build *b);

    /* The values of t are about to change: copies made of it before are out of date. */
    void (*invalidate_half)(gr_tensor *t);

    /*
     * The same of input i of a call, of which the call gets the copy where its kernel changes that too and it is up to
     * date: then it stays so.
     */
    void (*change_input)(gr_build *b, int i);

    /* Brings the copies of a slab's parameters up to date where there are any. False: recorded. */
    bool (*refresh_halves)(struct gr_slab *slab);

    /* Releases the copy of a step tensor that is itself being released. */
    void (*release_half)(gr_tensor *t);

    /* t += s, both of the same half type and shape, summed in floats. False: recorded. */
    bool (*add_halves)(gr_tensor *t, gr_tensor *s);

    /* --- halves on kernels for floats --- */

    /* Whether there are halves in a call and the device has only a kernel for floats for it. */
    bool (*widens)(const gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass);

    /* Runs one pass of such a call. False: recorded. */
    bool (*run_widened)(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass);

    /* --- the loss scale --- */

    /* Hands the end of the step state, which is on the device already, over to a loss scaler. False: recorded. */
    bool (*open_scaler)(gr_context *ctx);
} gr_mixed_precision;

extern const gr_mixed_precision gr__mixed_precision; /* amp/mixed.c */

#endif
