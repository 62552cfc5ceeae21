/*
 * flatten.cu - y[n, (h*W + w)*C + c] = x[n,h,w,c]: the elements in their order; dX = dY.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/copy.cuh"

extern "C" void GR_CUDA(flatten_forward)(const gr_call *call)
{
    copy_forward(call);
}

extern "C" void GR_CUDA(flatten_backward)(const gr_call *call)
{
    copy_backward(call);
}
