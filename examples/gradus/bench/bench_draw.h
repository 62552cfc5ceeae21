/*
 * bench_draw.h - the numbers in a case's tensors: quarters from -1 to 1, so that products and their sums are exact in
 * float, and no rounding turns a ReLU or another maximum round. A bias lies between them: no sum with it is 0, of which
 * Winograd's rounding would make what a ReLU lets pass. Factors of sums that compete under windows are 128ths: of sums
 * of quarters too many are equal, and rounding would choose another winner. bf16 holds these, too.
 */
#ifndef GRADUS_BENCH_DRAW_H
#define GRADUS_BENCH_DRAW_H

#include "bench/bench_cases.h"

/* The first count elements of an input, before any repetition of samples; key tells the inputs of a case apart. */
void bench_draw(const bench_input *input, int key, int64_t count, double *values);

/*
 * Fills t, whose samples repeat after period where it has any; what comes from outside is divided by the number of
 * repetitions. False: out of host memory, or the context tells.
 */
bool bench_fill(gr_tensor *t, const bench_input *input, int key, int64_t batch, int64_t period);

#endif
