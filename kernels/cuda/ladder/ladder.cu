/* ladder.cu - the rungs of a device, from the lowest. */
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/ladder/ladder.h"

/* GRADUS_WITHOUT_90A: nvcc makes no code for it, or nobody runs it. */
#if defined(GRADUS_WITHOUT_90A)
#define CODE(name, hopper) ((hopper) ? NULL : GR_CUDA(ladder_##name))
#else
#define CODE(name, hopper) GR_CUDA(ladder_##name)
#endif
#define RUNG(name, halves, tile, step, hopper) {#name, CODE(name, hopper), halves, tile, step, hopper},
extern "C" {
extern const gr_rung GR_CUDA(ladder)[] = {GR__LADDER(RUNG){NULL, NULL, 0, 0, 0, 0}};
}
