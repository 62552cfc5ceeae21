/*
 * cast.cu - y = x in another type: float, f16, bf16, on any shape; rounded to the nearest, ties to even.
 *
 * Launch    a thread for four elements side by side, blocks of 256: a warp moves 512 bytes of float or 256 of a half.
 * Limit     memory: each element is read and written once.
 * Measured  H200, 11.2 million floats to f16: 26 us, 2.6 TB/s, 93 % of a copy's.
 */
#include "kernels/cuda/cast.cuh"

template <class TO, class FROM> static void launch(const gr_call *call)
{
    const gr_tensor *x = call->in[0];
    cast(call->exec->queue, elements<TO>(call->out[0]), elements<FROM>(x), x->count);
}

template <class FROM> static void launch_from(const gr_call *call)
{
    switch (call->out[0]->type) {
    case GR_F16:
        return launch<f16, FROM>(call);
    case GR_BF16:
        return launch<bf16, FROM>(call);
    default:
        return launch<float, FROM>(call);
    }
}

extern "C" void GR_CUDA(cast_forward)(const gr_call *call)
{
    FOR_ELEMENTS_OF(call->in[0], launch_from, call);
}
