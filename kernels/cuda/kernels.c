/* kernels.c - the table of the CUDA kernels, for the device cuda and for simt. */
#include "kernels/cuda/hooks.h"

/* name_halves(call, pass): whether the call has its halves where the types of its slots say. */
#define TAKES_HALVES(name)                                             \
    static bool name##_halves(const gr_call *call, gr_pass pass)       \
    {                                                                  \
        return gr__halves_by_type(&gr__ops[GR_OP_##name], call, pass); \
    }
#define TAKES_DIFF(name) TAKES_HALVES(name)
#define TAKES_PURE(name) TAKES_HALVES(name)
#define TAKES_UPDATE(name)
#define GR_OP(name, kind, ...) TAKES_##kind(name)
#include "kernels/ops/ops.def"
#undef GR_OP

#define HALVES_DIFF(name) [GR_OP_##name].halves = name##_halves,
#define HALVES_PURE(name) [GR_OP_##name].halves = name##_halves,
#define HALVES_UPDATE(name)
#pragma GCC diagnostic ignored "-Woverride-init" /* the rule first, then hooks.def's exceptions */
const gr_kernel GR_CUDA(kernels)[GR_OP_COUNT] = {
#define GR_OP(name, kind, ...) HALVES_##kind(name)
#include "kernels/ops/ops.def"
#undef GR_OP
#define GR_HOOK(name, hook) [GR_OP_##name].hook = GR_CUDA(name##_##hook),
#define GR_ROUNDS(name, slot) [GR_OP_##name].rounds = 1u << (slot),
#define GR_COPIES(name, slot) [GR_OP_##name].copies = 1u << (slot),
#include "kernels/cuda/hooks.def"
#include "kernels/ops/passes.def"
#undef GR_HOOK
#undef GR_ROUNDS
#undef GR_COPIES
};
