/* nvToolsExtCudaRt.h - NVTX: names for the runtime's devices, streams and events, which nobody asks for. */
#ifndef GRADUS_CUDA_NV_TOOLS_EXT_CUDA_RT_H
#define GRADUS_CUDA_NV_TOOLS_EXT_CUDA_RT_H

#include "kernels/simt/cuda/cuda_runtime_api.h"
#include "kernels/simt/cuda/nvToolsExt.h"

static inline void nvtxNameCudaDeviceA(int device, const char *name) { (void)device, (void)name; }
static inline void nvtxNameCudaStreamA(cudaStream_t stream, const char *name) { (void)stream, (void)name; }
static inline void nvtxNameCudaEventA(cudaEvent_t event, const char *name) { (void)event, (void)name; }

#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

#endif
