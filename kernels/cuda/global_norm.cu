/*
 * global_norm.cu - norm = sqrt(sum_i x[i]^2), of a slab of gradients.
 *
 * Launch    two, as tensor_total.cuh cuts them; scratch is a float for each block of the first.
 * Limit     memory: each element is read once.
 * Range     squares are floats: an element above 1.8e19 makes the norm infinite, which is what an overflow should look
 *           like.
 * Measured  not yet.
 */
#include "kernels/cuda/tensor_total.cuh"

extern "C" size_t GR_CUDA(global_norm_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return tensor_total_bytes(call);
}

extern "C" void GR_CUDA(global_norm_forward)(const gr_call *call)
{
    tensor_total_of(call, true, 1, true);
}
