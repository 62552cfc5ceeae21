/* kernels.c - the table of the reference kernels: every operation has its passes and nothing else. */
#include "kernels/ref/ref.h"

const gr_kernel GR_REF(kernels)[GR_OP_COUNT] = {
#define GR_HOOK(name, hook) [GR_OP_##name].hook = GR_REF(name##_##hook),
#include "kernels/ops/passes.def"
#undef GR_HOOK
};
