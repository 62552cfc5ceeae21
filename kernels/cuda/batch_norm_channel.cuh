/*
 * batch_norm_channel.cuh - batch normalisation of an element by the numbers of its channel, and the tensors of a call;
 * formulas and letters as in batch_norm.cu.
 */
#ifndef GRADUS_BATCH_NORM_CHANNEL_CUH
#define GRADUS_BATCH_NORM_CHANNEL_CUH

#include "kernels/cuda/columns.cuh"

/* --- forward ------------------------------------------------------------------------------------------------------ */

/* Statistics that move towards those of this call; mean[C] and var[C], or NULL: there are none. */
typedef struct {
    float *mean, *var, momentum, unbias;
    const gr_step_state *state;
} tracking;

/* What forward reads and writes: y[n,C], x[n,C], residual[n,C] or NULL; the others [C]. */
template <class E> struct forward_tensors {
    E *y;
    const E *x, *residual;
    const float *gamma, *beta;
    float *mean, *var; /* given, or written; then NULL: nobody keeps them */
    float epsilon;
    bool relu;
    tracking moved;
};

/* Rows of x and of the residual; 0 of one that is not there. */
template <int ROWS, int V, class E> struct forward_rows {
    few<V, E> x[ROWS], residual[ROWS];
};

/* Elements i, i + apart, ... of x[n,C] and residual[n,C] or NULL, as rows_load. */
template <int ROWS, int V, class E>
GR_DEVICE void forward_load(forward_rows<ROWS, V, E> *rows, const forward_tensors<E> *t, int64_t i, int64_t apart,
                            int height, int left)
{
    rows_load<ROWS>(rows->x, t->x + i, apart, height, left);
    if (t->residual)
        rows_load<ROWS>(rows->residual, t->residual + i, apart, height, left);
}

/* What becomes of a channel: y = (x - mean) scale + shift */
template <int V> struct line_of_channel {
    pack<V> mean, scale, shift;
};

template <int V>
GR_DEVICE line_of_channel<V> line_of(pack<V> mean, pack<V> var, pack<V> gamma, pack<V> beta, float epsilon)
{
    line_of_channel<V> of = {mean, gamma, beta};
#pragma unroll
    for (int j = 0; j < V; j++)
        of.scale.at[j] /= sqrtf(var.at[j] + epsilon);
    return of;
}

/* Of channels from c on; gamma, beta, mean, var: [C] */
template <int V>
GR_DEVICE line_of_channel<V> line_from(const float *gamma, const float *beta, const float *mean, const float *var,
                                       float epsilon, int64_t c)
{
    return line_of<V>(pack_load<V>(mean + c), pack_load<V>(var + c), pack_load<V>(gamma + c), pack_load<V>(beta + c),
                      epsilon);
}

/* y without residual and ReLU. */
template <int V, class E> GR_DEVICE float line_at(const line_of_channel<V> &of, const few<V, E> &x, int j)
{
    return (few_at(x, j) - of.mean.at[j]) * of.scale.at[j] + of.shift.at[j];
}

template <int V, class E>
GR_DEVICE pack<V> normalised(const few<V, E> &x, const few<V, E> &residual, const line_of_channel<V> &of, bool relu)
{
    pack<V> y;
#pragma unroll
    for (int j = 0; j < V; j++) {
        const float z = line_at(of, x, j) + few_at(residual, j);
        y.at[j] = relu && z < 0 ? 0 : z;
    }
    return y;
}

/* tracked += momentum (unbias statistic - tracked), of V channels */
template <int V> GR_DEVICE void track(float *tracked, pack<V> statistic, float momentum, float unbias)
{
    pack<V> v = pack_load<V>(tracked);
#pragma unroll
    for (int j = 0; j < V; j++)
        v.at[j] += momentum * (unbias * statistic.at[j] - v.at[j]);
    pack_store<V>(tracked, v, false);
}

/* The same of both statistics of channels from c on, if they are tracked. */
template <int V> GR_DEVICE void track_both(const tracking *moved, pack<V> mean, pack<V> var, int64_t c)
{
    if (!moved->mean || moved->state->skip)
        return;
    track<V>(moved->mean + c, mean, moved->momentum, 1);
    track<V>(moved->var + c, var, moved->momentum, moved->unbias);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/*
 * What a ReLU's gradient passes by: y[n,C] or, where no residual is in it, the line that y is of x, by gamma and
 * beta[C]; NULL: not by this.
 */
template <class E> struct relu_gate {
    const E *y;
    const float *beta;
};
/* What backward reads and writes: dx[n,C] and dresidual[n,C], each or NULL; dy[n,C], x[n,C]; the others [C]. */
template <class E> struct backward_tensors {
    E *dx, *dresidual;
    const E *dy, *x;
    relu_gate<E> gate;
    const float *gamma, *mean, *var;
    float epsilon;
    bool centred; /* dX knows that mean and var depend on x: the sums' totals are read */
    bool accumulate_x, accumulate_residual;
};

/* Rows of dY, of y where it gates the gradient, and of x; 0 of those that are not read. */
template <int ROWS, int V, class E> struct backward_rows {
    few<V, E> dy[ROWS], gate[ROWS], x[ROWS];
};

/* Elements i, i + apart, ... of dY[n,C], and of y[n,C] if it gates them, and of x[n,C] or NULL, as rows_load. */
template <int ROWS, int V, class E>
GR_DEVICE void backward_load(backward_rows<ROWS, V, E> *rows, const backward_tensors<E> *t, const E *x, int64_t i,
                             int64_t apart, int height, int left)
{
    rows_load<ROWS>(rows->dy, t->dy + i, apart, height, left);
    if (t->gate.y)
        rows_load<ROWS>(rows->gate, t->gate.y + i, apart, height, left);
    if (x)
        rows_load<ROWS>(rows->x, x + i, apart, height, left);
}

/* Whether the ReLU lets no gradient pass by element j of a row. */
template <int ROWS, int V, class E>
GR_DEVICE bool is_closed(const backward_rows<ROWS, V, E> &rows, int row, int j, const relu_gate<E> &gate,
                         const line_of_channel<V> &of)
{
    return gate.y ? few_at(rows.gate[row], j) <= 0 : gate.beta && line_at(of, rows.x[row], j) <= 0;
}

/* The line of channels from c on, with any shift where no gate is made of it. */
template <int V, class E> GR_DEVICE line_of_channel<V> line_again(const backward_tensors<E> *t, int64_t c)
{
    return line_from<V>(t->gamma, t->gate.beta ? t->gate.beta : t->gamma, t->mean, t->var, t->epsilon, c);
}

/* What becomes of a channel: dX = scale (dz - shift - (x - mean) slope); mean and scale are those of its line */
template <int V> struct gradient_of_channel {
    line_of_channel<V> line;
    pack<V> shift, slope;
};

/* From the channel's line and variance, and sums of dz and of dz h over n rows; 0: dX does not know of them */
template <int V>
GR_DEVICE gradient_of_channel<V> gradient_of(const line_of_channel<V> &line, pack<V> var, pack<V> dz, pack<V> product,
                                             float epsilon, int64_t n)
{
    gradient_of_channel<V> of = {line, dz, product};
    const float share = 1 / (float)n;
#pragma unroll
    for (int j = 0; j < V; j++) {
        of.shift.at[j] *= share;
        of.slope.at[j] *= share / sqrtf(var.at[j] + epsilon);
    }
    return of;
}

/* dresidual and dX of a row, elements i, i + 1, ... */
template <int V, class E>
GR_DEVICE void gradient_store(const backward_tensors<E> *t, int64_t i, pack<V> dz, const few<V, E> &x,
                              const gradient_of_channel<V> &of)
{
    if (t->dresidual)
        pack_store<V>(t->dresidual + i, dz, t->accumulate_residual);
#pragma unroll
    for (int j = 0; j < V; j++) {
        const float h = few_at(x, j) - of.line.mean.at[j];
        dz.at[j] = of.line.scale.at[j] * (dz.at[j] - of.shift.at[j] - h * of.slope.at[j]);
    }
    if (t->dx)
        pack_store<V>(t->dx + i, dz, t->accumulate_x);
}

/* Where sums over a channel go: dgamma[C] and dbeta[C], or NULL. */
typedef struct {
    float *dgamma, *dbeta;
    bool accumulate_gamma, accumulate_beta;
} channel_sums;

/* Sums of dz and of dz h of channels from c on. */
template <int V> GR_DEVICE void sums_store(const channel_sums *to, int64_t c, pack<V> dz, pack<V> product)
{
    if (to->dgamma)
        pack_store<V>(to->dgamma + c, product, to->accumulate_gamma);
    if (to->dbeta)
        pack_store<V>(to->dbeta + c, dz, to->accumulate_beta);
}

#endif
