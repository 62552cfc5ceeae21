/*
 * add.cu - y = a + b, max(0, a + b) if asked; da = db = dY [y > 0] with the ReLU, else dY. On any shape.
 *
 * Launch    a thread for four elements side by side, blocks of 256. Backward writes both gradients from one reading of
 *           dY.
 * Limit     memory: forward reads two arrays and writes one; backward reads one (two with the ReLU) and writes up to
 *           two.
 * NaN       in a sum stays NaN: v < 0 is false for it. In y it stops the gradient, as 0 does.
 * Measured  not yet.
 */
#include "kernels/cuda/quad.cuh"

/* y[count], a[count], b[count] */
template <class E> static __global__ void add_forward(E *y, const E *a, const E *b, int64_t count, bool relu)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(a, i, count);
        const quad other = quad_load(b, i, count);
        for (int j = 0; j < QUAD; j++) {
            v.at[j] += other.at[j];
            v.at[j] = relu && v.at[j] < 0 ? 0 : v.at[j];
        }
        quad_store(y, i, count, v, false);
    }
}

/* da[count] and db[count], each or NULL; y[count], NULL: no ReLU; dy[count] */
template <class E>
static __global__ void add_backward(E *da, E *db, const E *y, const E *dy, int64_t count, bool accumulate_a,
                                    bool accumulate_b)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(dy, i, count);
        if (y) {
            const quad result = quad_load(y, i, count);
            for (int j = 0; j < QUAD; j++)
                v.at[j] = result.at[j] > 0 ? v.at[j] : 0;
        }
        if (da)
            quad_store(da, i, count, v, accumulate_a);
        if (db)
            quad_store(db, i, count, v, accumulate_b);
    }
}

template <class E> static void forward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH((add_forward<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, elements<E>(call->out[0]),
              elements<E>(call->in[0]), elements<E>(call->in[1]), count, ((const gr_add_args *)call->options)->relu);
}

template <class E> static void backward(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    const bool relu = ((const gr_add_args *)call->options)->relu;
    if (call->d_in[0] || call->d_in[1])
        GR_LAUNCH((add_backward<E>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, elements<E>(call->d_in[0]),
                  elements<E>(call->d_in[1]), relu ? elements<E>(call->out[0]) : NULL, elements<E>(call->d_out[0]),
                  count, call->accumulate & 1, call->accumulate >> 1 & 1);
}

TAKES_HALVES(add)
FORWARD_OF_ELEMENTS(add)
BACKWARD_OF_ELEMENTS(add)
