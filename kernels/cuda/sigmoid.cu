/*
 * sigmoid.cu - y = 1 / (1 + exp(-x)); dX = dY y (1 - y), on any shape.
 *
 * Launch    a thread for four elements side by side, blocks of 256.
 * Limit     memory: forward reads and writes each element once, backward reads two arrays and writes one.
 * Range     exp(-x) is infinite below x = -88, and 1 / infinity the right 0; it never meets infinity / infinity.
 * NaN       stays NaN.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* y[count], x[count] */
template <class E> static __global__ void sigmoid_forward(E *y, const E *x, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] = 1 / (1 + expf(-v.at[j]));
        quad_store(y, i, count, v, false);
    }
}

/* dx[count], y[count], dy[count] */
template <class E>
static __global__ void sigmoid_backward(E *dx, const E *y, const E *dy, int64_t count, bool accumulate)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        const quad result = quad_load(y, i, count);
        quad v = quad_load(dy, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] *= result.at[j] * (1 - result.at[j]);
        quad_store(dx, i, count, v, accumulate);
    }
}

template <class E> static void forward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH((sigmoid_forward<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, elements<E>(call->out[0]),
              elements<E>(call->in[0]), count);
}

template <class E> static void backward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    if (call->d_in[0])
        GR_LAUNCH((sigmoid_backward<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue,
                  elements<E>(call->d_in[0]), elements<E>(call->out[0]), elements<E>(call->d_out[0]), count,
                  call->accumulate & 1);
}

TAKES_HALVES(sigmoid)
FORWARD_OF_ELEMENTS(sigmoid)
BACKWARD_OF_ELEMENTS(sigmoid)
