/* nvToolsExtCuda.h - names for what the driver's API has, which is not here: see nvToolsExt.h. */
#include "kernels/simt/cuda/nvToolsExt.h"
