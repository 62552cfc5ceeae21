/*
 * dense_half.h - a dense layer on halves, cut along its input features.
 *
 * A block of features is a block of columns of x and dX and of rows of w and dW, which no other block reads or writes; y alone is
 * a sum over blocks. So each block is widened, computed in floats and rounded: every half is converted once, and the floats that
 * stand for them fit the caches however tall w is.
 */
#ifndef GRADUS_CPU_DENSE_HALF_H
#define GRADUS_CPU_DENSE_HALF_H

#include "kernels/cpu/cpu.h"

/* y[i] = x[i] in another floating-point type, i < n, by one thread. */
void GR_CPU(convert)(gr_type to, void *y, gr_type from, const void *x, int64_t n);

/* Whether x, w, y and what their gradients are made of are halves, as the policy makes them; parameters' gradients are floats. */
bool GR_CPU(dense_takes)(const gr_call *call, gr_pass pass);

void GR_CPU(dense_half_forward)(const gr_call *call);
void GR_CPU(dense_half_backward)(const gr_call *call);
size_t GR_CPU(dense_half_scratch)(const gr_call *call, gr_pass pass);

void GR_CPU(cast_forward)(const gr_call *call);
void GR_CPU(dense_forward)(const gr_call *call);
void GR_CPU(dense_backward)(const gr_call *call);
size_t GR_CPU(dense_scratch)(const gr_call *call, gr_pass pass);

#endif
