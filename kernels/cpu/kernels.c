/* kernels.c - the table of the tuned kernels of one instruction set. Where forward is NULL the reference serves. */
#include "kernels/cpu/cpu.h"

const gr_kernel GR_CPU(kernels)[GR_OP_COUNT] = {
#define GR_HOOK(name, hook) [GR_OP_##name].hook = GR_CPU(name##_##hook),
#define GR_ROUNDS(name, slot) [GR_OP_##name].rounds = 1u << (slot),
#include "kernels/cpu/hooks.def"
#undef GR_HOOK
#undef GR_ROUNDS
};
