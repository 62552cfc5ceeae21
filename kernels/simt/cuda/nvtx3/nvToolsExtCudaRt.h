/* nvToolsExtCudaRt.h - what programs look for here is in ../nvToolsExtCudaRt.h. */
#include "kernels/simt/cuda/nvToolsExtCudaRt.h"
