/*
 * scale.cu - y = factor x; dX = factor dY, on any shape.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: each element is read and written once.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* y[count], x[count] */
template <class E> static __global__ void scale(E *y, const E *x, float factor, int64_t count, bool accumulate)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] *= factor;
        quad_store(y, i, count, v, accumulate);
    }
}

template <class E> static void launch(const gr_call *call, const gr_tensor *y, const gr_tensor *x, bool accumulate)
{
    const gr_factor_args *args = (const gr_factor_args *)call->options;
    GR_LAUNCH((scale<E>), quad_blocks(x->count), QUAD_THREADS, 0, call->exec->queue, elements<E>(y), elements<E>(x),
              (float)args->factor, x->count, accumulate);
}

template <class E> static void forward(const gr_call *call)
{
    launch<E>(call, call->out[0], call->in[0], false);
}

template <class E> static void backward(const gr_call *call)
{
    if (call->d_in[0])
        launch<E>(call, call->d_in[0], call->d_out[0], call->accumulate & 1);
}

TAKES_HALVES(scale)
FORWARD_OF_ELEMENTS(scale)
BACKWARD_OF_ELEMENTS(scale)
