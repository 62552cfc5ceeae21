/*
 * loss_scale.c - front of loss_scale: the end of an update for scaler[GR_SCALER_VALUES], see core/step_state.h.
 *
 * After a skipped update the scale is halved, not below floor; after interval updates without a skip it is doubled, not
 * above ceiling (Micikevicius et al. 2018). Whether the update was skipped stands in the tensor: the host is not asked.
 */
#include <math.h>

#include "kernels/ops/kernels.h"

bool gr_loss_scale(gr_tensor *scaler, const gr_loss_scale_args *args)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_loss_scale], (gr_tensor *[]){scaler}, args, sizeof *args) ||
        !gr__check_scaler(&call, 0))
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

double gr__loss_scale_flops(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return 0;
}
