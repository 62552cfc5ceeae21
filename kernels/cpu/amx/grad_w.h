/* grad_w.h - dW and db of a convolution of bf16, or of floats in pieces. */
#ifndef GRADUS_CPU_AMX_GRAD_W_H
#define GRADUS_CPU_AMX_GRAD_W_H

#include "kernels/cpu/amx/cells.h"

/* Of a call of conv2d: its d_in[1] and d_in[2], either of which may be NULL. */
void GR_TILED(grad_w_run)(const gr_call *call, const gr_geometry *g);
size_t GR_TILED(grad_w_scratch)(const gr_call *call, const gr_geometry *g);
#define tiled_grad_w_run GR_TILED(grad_w_run)
#define tiled_grad_w_scratch GR_TILED(grad_w_scratch)

#endif
