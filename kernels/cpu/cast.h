/* cast.h - numbers of one floating-point type as those of another, by one thread. */
#ifndef GRADUS_CPU_CAST_H
#define GRADUS_CPU_CAST_H

#include "kernels/cpu/cpu.h"

/* y[i] = x[i] in another floating-point type, i < n. */
void GR_CPU(convert)(gr_type to, void *y, gr_type from, const void *x, int64_t n);

/* y[i] = x[i] rounded to a half type, i < n. */
void GR_CPU(round_to)(gr_type half, float *y, const float *x, int64_t n);

#endif
