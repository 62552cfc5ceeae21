/* cuda_profiler_api.h - what programs look for here is in cuda_runtime_api.h. */
#include "kernels/simt/cuda/cuda_runtime_api.h"
