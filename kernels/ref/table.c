/* table.c - the reference kernels by operation, generated from ops.def. */
#include "kernels/ref/ref.h"

#define ENTRY_DIFF(name)                                      \
    {                                                         \
        GR_REF(name##_forward), GR_REF(name##_backward), NULL \
    }
#define ENTRY_PURE(name)                   \
    {                                      \
        GR_REF(name##_forward), NULL, NULL \
    }
#define ENTRY_UPDATE(name)                 \
    {                                      \
        GR_REF(name##_forward), NULL, NULL \
    }
const gr_kernel GR_REF(kernels)[GR_OP_COUNT] = {
#define GR_OP(name, kind, inputs, outputs, formula) [GR_OP_##name] = ENTRY_##kind(name),
#include "kernels/ops/ops.def"
#undef GR_OP
};
