/*
 * mixed.h - the answers to core/precision.h, each by the file of amp/ that gives it; mixed.c makes the table of them.
 */
#ifndef GRADUS_MIXED_H
#define GRADUS_MIXED_H

#include "core/precision.h"
#include "core/slab.h"

/* policy.c */
gr_type gr__policy_compute(gr_precision precision, gr_type real);
gr_type gr__policy_input(const gr_context *ctx, const gr_slot *slot, const gr_tensor *t);
gr_type gr__policy_output(const gr_build *b, const gr_slot *slot);
bool gr__policy_widens(const gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass);

/* cast.c */
bool gr__cast_inputs(gr_build *b);
void gr__half_invalidate(gr_tensor *t);
void gr__half_change(gr_build *b, int i);
bool gr__half_refresh(gr_slab *slab);
void gr__half_release(gr_tensor *t);
bool gr__half_add(gr_tensor *t, gr_tensor *s);

/*
 * widen.c: widened copies in step memory, cut into slices of samples where the operation allows it, results rounded to
 * the nearest.
 */
bool gr__run_widened(gr_context *ctx, const gr_op *op, const gr_call *call, gr_pass pass);

/* scaler.c */
bool gr__scaler_open(gr_context *ctx);

#endif
