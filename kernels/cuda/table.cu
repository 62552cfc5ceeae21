/*
 * table.cu - the CUDA kernels by operation, generated from ops.def: every operation has a forward, DIFF ones a
 * backward, and those that need scratch say so by defining NAME_scratch, those that have kernels for halves by
 * NAME_halves.
 */
#include "kernels/cuda/gpu.h"

#define DECLARE_DIFF(name) void GR_CUDA(name##_forward)(const gr_call *), GR_CUDA(name##_backward)(const gr_call *);
#define DECLARE_PURE(name) void GR_CUDA(name##_forward)(const gr_call *);
#define DECLARE_UPDATE(name) void GR_CUDA(name##_forward)(const gr_call *);
extern "C" {
#define GR_OP(name, kind, inputs, outputs, formula)                                                      \
    DECLARE_##kind(name) size_t GR_CUDA(name##_scratch)(const gr_call *, gr_pass) __attribute__((weak)); \
    bool GR_CUDA(name##_halves)(const gr_call *, gr_pass) __attribute__((weak));
#include "kernels/ops/ops.def"
#undef GR_OP

#define BACKWARD_DIFF(name) GR_CUDA(name##_backward)
#define BACKWARD_PURE(name) NULL
#define BACKWARD_UPDATE(name) NULL
extern const gr_kernel GR_CUDA(kernels)[GR_OP_COUNT] = {
#define GR_OP(name, kind, inputs, outputs, formula) \
    {GR_CUDA(name##_forward), BACKWARD_##kind(name), GR_CUDA(name##_scratch), GR_CUDA(name##_halves), 0},
#include "kernels/ops/ops.def"
#undef GR_OP
};
}
