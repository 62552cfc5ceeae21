/* vector_functions.h - what programs look for here is in vector_types.h. */
#include "kernels/simt/cuda/vector_types.h"
