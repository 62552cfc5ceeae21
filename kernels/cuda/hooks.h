/*
 * hooks.h - names of what is compiled twice, by nvcc for the device cuda and by the host compiler for simt, and the
 * functions that this folder defines for their table of kernels. For C and C++; no header of CUDA.
 */
#ifndef GRADUS_CUDA_HOOKS_H
#define GRADUS_CUDA_HOOKS_H

#include "kernels/ops/hooks.h"

#ifndef GR_GPU /* the build says cuda for the C file of that device */
#ifdef __CUDACC__
#define GR_GPU cuda
#else
#define GR_GPU simt
#endif
#endif

#define GR_CUDA_JOIN(device, name) gr__##device##_##name
#define GR_CUDA_EXPAND(device, name) GR_CUDA_JOIN(device, name)
#define GR_CUDA(name) GR_CUDA_EXPAND(GR_GPU, name) /* GR_CUDA(relu_forward): gr__simt_relu_forward */

#define GR_HOOK(name, hook) GR_DECLARE_##hook(GR_CUDA(name##_##hook))
#define GR_ROUNDS(name, slot)
#define GR_COPIES(name, slot)
#include "kernels/cuda/hooks.def"
#include "kernels/ops/passes.def"
#undef GR_HOOK
#undef GR_ROUNDS
#undef GR_COPIES

#endif
