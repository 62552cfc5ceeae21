/*
 * loss_scaling.c - fronts of the loss scale's part of an update, on scaler[GR_SCALER_VALUES], see core/step_state.h.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

/*
 * Unscale: gradients g, of any shape, divided by the loss scale in scaler[GR_SCALER_VALUES]. One that is not finite
 * sets skip there; nothing else does, so a slab may be unscaled in several pieces.
 */
bool gr_unscale(gr_tensor *g, gr_tensor *scaler)
{
    gr_build call;
    return gr__begin(&call, unscale, NULL, g, scaler) && gr__check_scaler(&call, 1) && gr__op_run(&call);
}

/*
 * Overflow: an element of x, of any shape and floating-point type, that is not finite sets skip in
 * scaler[GR_SCALER_VALUES]. For what gradients are made of where they are not stored themselves.
 */
bool gr_overflow(gr_tensor *x, gr_tensor *scaler)
{
    gr_build call;
    return gr__begin(&call, overflow, NULL, x, scaler) && gr__check_scaler(&call, 1) && gr__op_run(&call);
}

/*
 * Loss_scale: the end of an update for scaler[GR_SCALER_VALUES], see core/step_state.h.
 *
 * After a skipped update the scale is halved, not below floor; after interval updates without a skip it is doubled,
 * not above ceiling (Micikevicius et al. 2018). Whether the update was skipped stands in the tensor: the host is not
 * asked.
 */
bool gr_loss_scale(gr_tensor *scaler, const gr_loss_scale_args *args)
{
    gr_build call;
    if (!gr__begin(&call, loss_scale, args, scaler) || !gr__check_scaler(&call, 0))
        return false;
    gr_loss_scale_args *a = gr__op_args(&call);
    a->floor = a->floor != 0 ? a->floor : 1;
    a->ceiling = a->ceiling != 0 ? a->ceiling : 0x1p24;
    a->interval = a->interval != 0 ? a->interval : 2000;
    if (!(a->floor > 0 && a->ceiling >= a->floor && isfinite(a->ceiling)) || a->interval < 1)
        return gr__op_fail(&call,
                           "floor %g, ceiling %g, interval %lld; the floor is positive, the ceiling not below it, the "
                           "interval at least 1",
                           a->floor, a->ceiling, (long long)a->interval);
    return gr__op_run(&call);
}
