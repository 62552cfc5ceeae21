/* ops.c - the table of operations, generated from ops.def. */
#include "kernels/ops/kernels.h"

const gr_op gr__ops[GR_OP_COUNT] = {
#define GR_OP(name, kind, inputs, outputs, formula) \
    [GR_OP_##name] = {GR_OP_##name, #name, GR_##kind, inputs, outputs, formula, gr__##name##_flops},
#include "kernels/ops/ops.def"
#undef GR_OP
};

int gr_op_count(void)
{
    return GR_OP_COUNT;
}

const char *gr_op_name(int i)
{
    return i >= 0 && i < GR_OP_COUNT ? gr__ops[i].name : NULL;
}
