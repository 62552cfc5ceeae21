/* reduce.h - what programs look for here is in cooperative_groups.h. */
#include "kernels/simt/cuda/cooperative_groups.h"
