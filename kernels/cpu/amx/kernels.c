/* kernels.c - the table of the kernels on tiles. Where forward is NULL the instruction set beneath serves. */
#include "kernels/cpu/amx/amx.h"

const gr_kernel GR_TILED(kernels)[GR_OP_COUNT] = {
#define GR_HOOK(name, hook) [GR_OP_##name].hook = GR_TILED(name##_##hook),
#define GR_ROUNDS(name, slot) [GR_OP_##name].rounds = 1u << (slot),
#include "kernels/cpu/amx/hooks.def"
#undef GR_HOOK
#undef GR_ROUNDS
};
