/*
 * mean.cu - s = sum_i x[i] / count.
 *
 * Launch    two, as tensor_total.cuh cuts them; scratch is a float for each block of the first.
 * Limit     memory: each element is read once.
 * Measured  not yet.
 */
#include "kernels/cuda/tensor_total.cuh"

extern "C" size_t GR_CUDA(mean_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return tensor_total_bytes(call);
}

extern "C" void GR_CUDA(mean_forward)(const gr_call *call)
{
    tensor_total_of(call, false, 1 / (double)call->in[0]->count, false);
}
