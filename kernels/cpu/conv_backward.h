/*
 * conv_backward.h - the backward pass of conv2d and of conv2d_relu_max_pool: slots x 0, w 1, b 2. For its scratch, dz
 * need say no more than its sizes and pooling windows.
 */
#ifndef GRADUS_CPU_CONV_BACKWARD_H
#define GRADUS_CPU_CONV_BACKWARD_H

#include "kernels/cpu/conv_dz.h"

size_t GR_CPU(conv_backward_scratch)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_backward_scratch GR_CPU(conv_backward_scratch)

void GR_CPU(conv_backward)(const gr_call *call, const gr_geometry *g, const conv_dz *dz);
#define conv_backward GR_CPU(conv_backward)

#endif
