/*
 * dense.h - a dense layer of bf16, or of floats in pieces of it: y = x w + b in dense_forward.c, its backward pass in
 * dense_backward.c. Weights may be floats beside bf16, too, and are rounded to it wherever they are multiplied.
 */
#ifndef GRADUS_CPU_AMX_DENSE_H
#define GRADUS_CPU_AMX_DENSE_H

#include "kernels/cpu/amx/pieces.h"
#include "kernels/cpu/dense_backward.h"

void GR_TILED(dense_forward_run)(const gr_call *call);
size_t GR_TILED(dense_forward_scratch)(const gr_call *call);

/* One sweep over w, as in ../dense_backward.h. */
typedef struct {
    int64_t n, in, out;
    int pieces;             /* 1: x, dy, y and dx are of bf16; 2, 3: of floats, which are split into so many */
    const void *x, *dy, *y; /* [N,in], [N,out], [N,out]: dz = dy [y > 0]; y NULL: dz = dy */
    const gr_tensor *w;     /* [in,out], f32 where it is updated or split, else f32 or bf16 */
    void *dx;               /* [N,in] or NULL */
    float *dw, *db;         /* [in,out], [out] or NULL */
    bool accumulate_x, accumulate_w, accumulate_b;
    dense_change change;
} tiled_dense;

void GR_TILED(dense_sweep_run)(const gr_exec *exec, const tiled_dense *job);
size_t GR_TILED(dense_sweep_scratch)(int pieces, int64_t n, int64_t in, int64_t out);

#endif
