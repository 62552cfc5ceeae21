/* ladder.cu - the rungs of a device, from the lowest. */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

#define RUNG(name, halves, tile, step) {#name, GR_CUDA(ladder_##name), halves, tile, step},
extern "C" {
extern const gr_rung GR_CUDA(ladder)[] = {GR__LADDER(RUNG){NULL, NULL, 0, 0, 0}};
}
