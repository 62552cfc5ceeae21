/* bench_half.h - 16-bit numbers, whose results are compared with the reference's doubles. */
#ifndef GRADUS_BENCH_HALF_H
#define GRADUS_BENCH_HALF_H

#include "gradus.h"

/* The number with these bits; type: GR_F16 or GR_BF16. */
double half_value(gr_type type, uint16_t bits);

/* The bits of the number next to x, ties to even. |x| is at most 2. */
uint16_t half_bits(gr_type type, double x);

#endif
