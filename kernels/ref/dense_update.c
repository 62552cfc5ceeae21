/*
 * dense_update.c - references of dense_sgd and dense_adam.
 *
 *   dz = dY [y > 0] where y is given, else dY
 *   dX[n,i] = sum_j dz[n,j] w[i,j]     db[j] = sum_n dz[n,j]     then w[i,j] updated by g = sum_n x[n,i] dz[n,j] / S
 * where S is the loss scale that dy carries and dX and db keep.
 * Row i of w is all that row i of dX and of the update need, so one sweep over w does both.
 */
#include "kernels/ref/adam.h"

enum { X, DY, W, Y, M, V };

static wide upstream(const gr_call *call, int64_t i)
{
    const real *y = reals(call->in[Y]);
    return y && y[i] <= 0 ? 0 : (wide)reals(call->in[DY])[i];
}

/* dX of row i of w for every sample. */
static void dx_row(const gr_call *call, int64_t i)
{
    const int64_t N = call->in[X]->shape[0], in = call->in[W]->shape[0], out = call->in[W]->shape[1];
    const real *w = reals(call->in[W]); /* [in,out] */
    for (int64_t n = 0; call->out[0] && n < N; n++) {
        wide sum = 0;
        for (int64_t j = 0; j < out; j++)
            sum += upstream(call, n * out + j) * (wide)w[i * out + j];
        reals(call->out[0])[n * in + i] = (real)sum;
    }
}

/* Gradient of w[i,j]. */
static wide gradient(const gr_call *call, int64_t i, int64_t j)
{
    const int64_t N = call->in[X]->shape[0], in = call->in[W]->shape[0], out = call->in[W]->shape[1];
    wide sum = 0;
    for (int64_t n = 0; n < N; n++)
        sum += (wide)reals(call->in[X])[n * in + i] * upstream(call, n * out + j);
    return sum / (wide)call->exec->state->loss_scale;
}

static void db(const gr_call *call)
{
    const int64_t N = call->in[X]->shape[0], out = call->in[W]->shape[1];
    for (int64_t j = 0; call->out[1] && j < out; j++) {
        wide sum = 0;
        for (int64_t n = 0; n < N; n++)
            sum += upstream(call, n * out + j);
        reals(call->out[1])[j] = (real)sum;
    }
}

void GR_REF(dense_sgd_forward)(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    const int64_t in = call->in[W]->shape[0], out = call->in[W]->shape[1];
    real *w = reals(call->in[W]); /* [in,out] */
    db(call);
    for (int64_t i = 0; i < in; i++) {
        dx_row(call, i);
        for (int64_t j = 0; !state->skip && j < out; j++)
            w[i * out + j] = (real)((wide)w[i * out + j] - state->lr * gradient(call, i, j));
    }
}

void GR_REF(dense_adam_forward)(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    const adam_numbers a = adam_at(call->options, state);
    const int64_t in = call->in[W]->shape[0], out = call->in[W]->shape[1];
    real *w = reals(call->in[W]), *m = reals(call->in[M]), *v = reals(call->in[V]); /* [in,out] each */
    db(call);
    for (int64_t i = 0; i < in; i++) {
        dx_row(call, i);
        for (int64_t j = 0; !state->skip && j < out; j++)
            adam_element(&a, gradient(call, i, j), &w[i * out + j], &m[i * out + j], &v[i * out + j]);
    }
}
