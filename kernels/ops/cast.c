/* cast.c - front of cast: x of any shape in another floating-point type. */
#include "kernels/ops/kernels.h"

gr_tensor *gr_cast(gr_tensor *x, gr_type type)
{
    gr_build call;
    if (!gr__op_begin(&call, &gr__ops[GR_OP_cast], (gr_tensor *[]){x}, NULL, 0))
        return NULL;
    if (type != gr_real(call.ctx) && type != GR_F16 && type != GR_BF16)
        return gr__op_fail(&call, "to type %s; there are %s, f16 and bf16", gr_type_name(type),
                           gr_type_name(gr_real(call.ctx)));
    return gr__op_output_as(&call, 0, type, x->ndim, x->shape) ? gr__op_run(&call) : NULL;
}

/* Conversions are no arithmetic. */
double gr__cast_flops(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return 0;
}
