/* surface_functions.h - what programs look for here is in cuda_runtime.h. */
#include "kernels/simt/cuda/cuda_runtime.h"
