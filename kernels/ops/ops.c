/* ops.c - the table of operations, generated from ops.def. */
#include "kernels/ops/notation.h"

/* FLOPs, by what ops.def says they are made of. */
#define GR_OP(name, kind, inputs, outputs, formula, args_type, words, calling, flops, ...)       \
    static double name##_flops(const gr_call *call, gr_pass pass)                                \
    {                                                                                            \
        const args_type *args = call->options;                                                   \
        const bool forward = pass == GR_FORWARD;                                                 \
        const double count = (double)call->in[0]->count;                                         \
        const double results = call->out[0] ? (double)call->out[0]->count : 0;                   \
        (void)args, (void)forward, (void)count, (void)results;                                   \
        return flops;                                                                            \
    }                                                                                            \
    _Static_assert(sizeof(args_type) <= GR_MAX_ARGS, "the args of " #name " do not fit a call"); \
    _Static_assert(GR_SLOTS(inputs) <= GR_MAX_IN && GR_SLOTS(outputs) <= GR_MAX_OUT, #name " has too many slots");
#include "kernels/ops/ops.def"

const gr_op gr__ops[GR_OP_COUNT] = {
#define GR_OP(op, is, inputs, outputs, means, args_type, words, calling, cost, ...) \
    [GR_OP_##op] = {.id = GR_OP_##op,                                               \
                    .name = #op,                                                    \
                    .kind = GR_##is,                                                \
                    .n_in = GR_SLOTS(inputs),                                       \
                    .n_out = GR_SLOTS(outputs),                                     \
                    .in = GR_BRACES inputs,                                         \
                    .out = GR_BRACES outputs,                                       \
                    .formula = means,                                               \
                    .args_size = sizeof(args_type),                                 \
                    .flops = op##_flops},
#include "kernels/ops/ops.def"
};

int gr_op_count(void)
{
    return GR_OP_COUNT;
}

const char *gr_op_name(int i)
{
    return i >= 0 && i < GR_OP_COUNT ? gr__ops[i].name : NULL;
}
