/*
 * conv_grad.h - the two halves of a convolution's backward pass: dX, then dW and db. Both use scratch from its
 * beginning.
 */
#ifndef GRADUS_CPU_CONV_GRAD_H
#define GRADUS_CPU_CONV_GRAD_H

#include "kernels/cpu/conv_dz.h"

size_t GR_CPU(conv_grad_x_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
size_t GR_CPU(conv_grad_w_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
void GR_CPU(conv_grad_x)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
void GR_CPU(conv_grad_w)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_grad_x_scratch GR_CPU(conv_grad_x_scratch)
#define conv_grad_w_scratch GR_CPU(conv_grad_w_scratch)
#define conv_grad_x GR_CPU(conv_grad_x)
#define conv_grad_w GR_CPU(conv_grad_w)

#endif
