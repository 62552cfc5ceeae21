/* conv_backward.c - what is wanted of dX, dW and db, one after the other in the same scratch. */
#include "kernels/cpu/conv_backward.h"
#include "kernels/cpu/conv_grad.h"

size_t conv_backward_scratch(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    const size_t x = conv_grad_x_scratch(call, g, dz), w = conv_grad_w_scratch(call, g, dz);
    return x > w ? x : w;
}

void conv_backward(const gr_call *call, const gr_geometry *g, const conv_dz *dz)
{
    if (call->d_in[0])
        conv_grad_x(call, g, dz);
    if (call->d_in[1] || call->d_in[2])
        conv_grad_w(call, g, dz);
}
