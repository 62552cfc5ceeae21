/*
 * conv_backward.cuh - dX and dW of a convolution, for the operations that have one: their kernels are compiled once, in
 * conv_backward.cu, for floats, tf32, f16 and bf16.
 */
#ifndef GRADUS_CONV_BACKWARD_CUH
#define GRADUS_CONV_BACKWARD_CUH

#include "kernels/cuda/gradient_operand.cuh"

/* The gradients that are wanted, each NULL where it is not, and what they are made of besides dz. */
template <class E> struct conv_gradients {
    const E *x, *w; /* [N,H,W,C], [K,R,S,C] */
    E *dx;
    float *dw;
    bool add_dx, add_dw;
};

/* dz[n][p][q][K] is in memory; exec->scratch has at least conv_backward_scratch<E>(exec, g, K) bytes. */
#define conv_backward_scratch GR_CUDA(conv_backward_scratch)
template <class E> size_t conv_backward_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K);

#define conv_backward GR_CUDA(conv_backward)
template <class E>
void conv_backward(const gr_exec *exec, const conv_gradients<E> &of, const plain_gradient<E> &dz, const gr_geometry *g,
                   int64_t K);

#endif
