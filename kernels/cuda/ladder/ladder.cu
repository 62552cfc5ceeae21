/* ladder.cu - the rungs of a device, from the lowest. */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

#define RUNG(name) {#name, GR_CUDA(ladder_##name)},
extern "C" {
extern const gr_rung GR_CUDA(ladder)[] = {GR__LADDER(RUNG){NULL, NULL}};
}
