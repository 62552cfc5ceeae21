/* nvToolsExtCudaRt.h - what programs look for here is in ../nvToolsExt.h. */
#include "kernels/simt/cuda/nvToolsExt.h"
