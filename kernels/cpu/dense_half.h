/*
 * dense_half.h - a dense layer on halves, cut along its input features.
 *
 * A block of features is a block of columns of x and dX and of rows of w and dW, which no other block reads or writes;
 * y alone is a sum over blocks. So each block is widened, computed in floats and rounded: every half is converted
 * once, and the floats that stand for them fit the caches however tall w is.
 */
#ifndef GRADUS_CPU_DENSE_HALF_H
#define GRADUS_CPU_DENSE_HALF_H

#include "kernels/cpu/cast.h"

/* A matrix of halves and, of some of its columns, the floats that stand for them. */
typedef struct {
    gr_tensor *half; /* [rows,pitch] */
    int64_t first;   /* column of it where the floats begin */
    gr_tensor wide;  /* f32 [rows,columns] */
    bool store;      /* floats to halves; else halves to floats */
} half_window;

void GR_CPU(half_window_convert)(const gr_exec *exec, half_window *v, bool store);
#define half_window_convert GR_CPU(half_window_convert)

INLINE gr_tensor float_matrix(int64_t rows, int64_t columns, float *data)
{
    return (gr_tensor){
        .type = GR_F32, .ndim = 2, .shape = {rows, columns, 1, 1}, .count = rows * columns, .data = data};
}

/* Features in a block that takes so many floats for each. */
INLINE int64_t half_block(int64_t in, int64_t floats)
{
    enum { BLOCK_FLOATS = 1 << 18, GRAIN = 64 /* blocks are a multiple */ };
    return min64(in, max64(GRAIN, BLOCK_FLOATS / floats / GRAIN * GRAIN));
}

void GR_CPU(dense_half_forward)(const gr_call *call);
void GR_CPU(dense_half_backward)(const gr_call *call);
size_t GR_CPU(dense_half_scratch)(const gr_call *call, gr_pass pass);

void GR_CPU(dense_forward)(const gr_call *call);
void GR_CPU(dense_backward)(const gr_call *call);
size_t GR_CPU(dense_scratch)(const gr_call *call, gr_pass pass);

#endif
