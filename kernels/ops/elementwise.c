/*
 * elementwise.c - fronts of operations element by element, of any shape. Those of one input without options,
 * GR_UNARY in ops.def, are generated from their lines.
 */
#include <math.h>

#include "kernels/ops/dropout.h"

static gr_tensor *same_shape(gr_build *call)
{
    const gr_tensor *x = call->call.in[0];
    return gr__op_output(call, 0, x->ndim, x->shape) ? gr__op_run(call) : NULL;
}

/* gr_relu, gr_sigmoid, ... */
#define GR_OP(...)
#define GR_UNARY(name, ...)                                                \
    gr_tensor *gr_##name(gr_tensor *x)                                     \
    {                                                                      \
        gr_build call;                                                     \
        return gr__begin(&call, name, NULL, x) ? same_shape(&call) : NULL; \
    }
#include "kernels/ops/ops.def"

/* The product with a number. Backward needs nothing. */
gr_tensor *gr_scale(gr_tensor *x, double factor)
{
    gr_build call;
    if (!gr__begin(&call, scale, &(gr_factor_args){factor}, x))
        return NULL;
    if (!isfinite(factor))
        return gr__op_fail(&call, "factor %g; it must be finite", factor);
    return same_shape(&call);
}

/* The sum of two tensors of one shape, the end of a residual block. Backward needs, with relu, y. */
gr_tensor *gr_add(gr_tensor *a, gr_tensor *b, const gr_add_args *args)
{
    gr_build call;
    return gr__begin(&call, add, args, a, b) && gr__check_same_shape(&call, 1, "b") ? same_shape(&call) : NULL;
}

/* The difference. -b is exact, so this is a subtraction. */
gr_tensor *gr_sub(gr_tensor *a, gr_tensor *b)
{
    return gr_add(a, gr_scale(b, -1), NULL);
}

/* The product of two tensors of one shape. Backward needs both. */
gr_tensor *gr_mul(gr_tensor *a, gr_tensor *b)
{
    gr_build call;
    return gr__begin(&call, mul, NULL, a, b) && gr__check_same_shape(&call, 1, "b") ? same_shape(&call) : NULL;
}

/* The natural logarithm. Backward needs x. */
gr_tensor *gr_log(gr_tensor *x)
{
    gr_build call;
    return gr__begin(&call, log, NULL, x) ? same_shape(&call) : NULL;
}

/* Dropout. Backward draws again what forward has drawn: nothing is kept. */
gr_tensor *gr_dropout(gr_tensor *x, double rate)
{
    gr_build call;
    if (!gr__begin(&call, dropout, &(gr__dropout_args){.rate = rate}, x))
        return NULL;
    if (!(rate >= 0 && rate < 1))
        return gr__op_fail(&call, "rate %g; it lies in [0, 1)", rate);
    ((gr__dropout_args *)gr__op_args(&call))->draw = gr__op_draw(&call);
    return same_shape(&call);
}

/* Another floating-point type. */
gr_tensor *gr_cast(gr_tensor *x, gr_type type)
{
    gr_build call;
    if (!gr__begin(&call, cast, NULL, x))
        return NULL;
    if (type != gr_real(call.ctx) && type != GR_F16 && type != GR_BF16)
        return gr__op_fail(&call, "to type %s; there are %s, f16 and bf16", gr_type_name(type),
                           gr_type_name(gr_real(call.ctx)));
    return gr__op_output_as(&call, 0, type, x->ndim, x->shape) ? gr__op_run(&call) : NULL;
}
