/*
 * few_channels.cuh - which convolutions have so few channels that kernels of their own make y and dW: halves on tensor
 * cores (thin_tile.cuh); floats, with tf32 too, by multiply-adds (narrow_conv.cuh). dX goes the way of all others.
 */
#ifndef GRADUS_FEW_CHANNELS_CUH
#define GRADUS_FEW_CHANNELS_CUH

#include "kernels/cuda/narrow_conv.cuh"
#include "kernels/cuda/thin_forward.cuh"
#include "kernels/cuda/thin_grad_w.cuh"

template <class E> constexpr bool IS_HALF = sizeof(E) < sizeof(float);

template <class E> static inline bool has_few_channels(const gr_geometry *g, int64_t K)
{
    return IS_HALF<E> ? is_thin(g, K) : is_narrow(g);
}

/* y[N,P,Q,K] of x[N,H,W,C] and w[K,R,S,C] */
template <class E>
static void few_forward(const gr_exec *exec, const E *x, const E *w, const result<E> &y, const gr_geometry *g)
{
    if constexpr (IS_HALF<E>)
        thin_convolution(exec, x, w, y, g);
    else
        narrow_convolution(exec, (const float *)x, (const float *)w, {(float *)y.c, y.bias, y.n, y.relu}, g);
}

/* Bytes of scratch that few_grad_w wants. */
template <class E> static inline size_t few_grad_w_scratch(const gr_exec *exec, const gr_geometry *g, int64_t K)
{
    return IS_HALF<E> ? thin_grad_w_scratch(exec, g, K) : narrow_conv_scratch(exec, g, K);
}

/* dw[K,R,S,C] of x[N,H,W,C] and dz[N,P,Q,K]; add: whether to add to it */
template <class E>
static void few_grad_w(const gr_exec *exec, float *dw, const E *x, const plain_gradient<E> &dz, const gr_geometry *g,
                       bool add)
{
    if constexpr (IS_HALF<E>)
        thin_gradient(exec, dw, x, dz, g, add);
    else
        narrow_gradient(exec, dw, (const float *)x, {(const float *)dz.dz, dz.p, dz.q, dz.k}, g, add);
}

#endif
