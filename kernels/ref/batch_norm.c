/*
 * batch_norm.c - reference of batch normalisation. Pixels i = 0..n-1 (all dimensions but the last), channels c =
 * 0..C-1.
 *
 *   m[c] = sum_i x[i,c] / n          v[c] = sum_i (x[i,c] - m[c])^2 / n          s[c] = 1 / sqrt(v[c] + epsilon)
 *   h[i,c] = (x[i,c] - m[c]) s[c]    y = gamma[c] h + beta[c] + residual, then max(0,.) if asked
 *
 *   dz = dY [y > 0] with the ReLU epilogue, else dY
 *   dresidual = dz    dbeta[c] = sum_i dz[i,c]    dgamma[c] = sum_i dz[i,c] h[i,c]
 *   dX = gamma[c] s[c] (dz - dbeta[c] / n - h dgamma[c] / n)       (Ioffe and Szegedy 2015, section 3, put together)
 *   dX = gamma[c] s[c] dz                                          where m and v are given: they do not depend on x
 *
 *   tracked_mean[c] += momentum (m[c] - tracked_mean[c])           where m and v are of k values
 *   tracked_var[c] += momentum (v[c] k/(k-1) - tracked_var[c])
 */
#include "kernels/ref/ref.h"

typedef struct {
    int64_t n, C;
    bool given; /* mean and variance */
} extent;

static extent extent_of(const gr_call *call)
{
    const gr_tensor *x = call->in[0];
    const int64_t C = x->shape[x->ndim - 1];
    return (extent){x->count / C, C, call->in[4] != NULL};
}

/* Mean and biased variance of channel c of the batch, of two passes over it. */
static void batch_statistics(const gr_call *call, const extent *e, int64_t c, wide *mean, wide *var)
{
    const real *x = reals(call->in[0]); /* [n,C] */
    *mean = *var = 0;
    for (int64_t i = 0; i < e->n; i++)
        *mean += (wide)x[i * e->C + c];
    *mean /= (wide)e->n;
    for (int64_t i = 0; i < e->n; i++)
        *var += ((wide)x[i * e->C + c] - *mean) * ((wide)x[i * e->C + c] - *mean);
    *var /= (wide)e->n;
}

/* Moves the tracked statistics of channel c, if there are any, towards these. */
static void track(const gr_call *call, int64_t c, real mean, real var)
{
    const gr_batch_norm_args *args = call->options;
    const wide unbias = (wide)args->values / (wide)(args->values - 1);
    real *tracked_mean = reals(call->in[6]), *tracked_var = reals(call->in[7]); /* [C] or NULL */
    if (!tracked_mean || call->exec->state->skip)
        return;
    tracked_mean[c] = (real)gr__batch_norm_moved((wide)tracked_mean[c], (wide)mean, args->momentum);
    tracked_var[c] = (real)gr__batch_norm_moved((wide)tracked_var[c], unbias * (wide)var, args->momentum);
}

void GR_REF(batch_norm_forward)(const gr_call *call)
{
    const gr_batch_norm_args *args = call->options;
    const extent e = extent_of(call);
    const real *x = reals(call->in[0]), *residual = reals(call->in[3]);           /* [n,C]; residual or NULL */
    const real *gamma = reals(call->in[1]), *beta = reals(call->in[2]);           /* [C] */
    const real *given_mean = reals(call->in[4]), *given_var = reals(call->in[5]); /* [C] or NULL */
    real *y = reals(call->out[0]), *kept_mean = reals(call->out[1]), *kept_var = reals(call->out[2]);
    for (int64_t c = 0; c < e.C; c++) {
        wide mean, var;
        if (e.given) {
            mean = (wide)given_mean[c];
            var = (wide)given_var[c];
        } else {
            batch_statistics(call, &e, c, &mean, &var);
        }
        if (kept_mean)
            kept_mean[c] = (real)mean;
        if (kept_var)
            kept_var[c] = (real)var;
        track(call, c, (real)mean, (real)var);
        const wide s = 1 / sqrt(var + args->epsilon);
        for (int64_t i = c; i < e.n * e.C; i += e.C) {
            const wide z =
                (wide)gamma[c] * ((wide)x[i] - mean) * s + (wide)beta[c] + (residual ? (wide)residual[i] : 0);
            y[i] = (real)(args->relu ? relu(z) : z);
        }
    }
}

static wide upstream(const gr_call *call, int64_t i)
{
    const gr_batch_norm_args *args = call->options;
    return args->relu && reals(call->out[0])[i] <= 0 ? 0 : (wide)reals(call->d_out[0])[i];
}

/* All gradients of channel c. */
static void differentiate(const gr_call *call, const extent *e, int64_t c)
{
    const gr_batch_norm_args *args = call->options;
    const real *x = reals(call->in[0]); /* [n,C] */
    const wide mean = (wide)reals(e->given ? call->in[4] : call->out[1])[c];
    const wide s = 1 / sqrt((wide)reals(e->given ? call->in[5] : call->out[2])[c] + args->epsilon);
    wide dbeta = 0, dgamma = 0;
    for (int64_t i = c; i < e->n * e->C; i += e->C) {
        dbeta += upstream(call, i);
        dgamma += upstream(call, i) * ((wide)x[i] - mean) * s;
    }
    if (call->d_in[1])
        give(call, 1, c, dgamma);
    if (call->d_in[2])
        give(call, 2, c, dbeta);
    for (int64_t i = c; call->d_in[0] && i < e->n * e->C; i += e->C) {
        const wide h = ((wide)x[i] - mean) * s, through = (dbeta + h * dgamma) / (wide)e->n;
        give(call, 0, i, (wide)reals(call->in[1])[c] * s * (upstream(call, i) - (e->given ? 0 : through)));
    }
}

void GR_REF(batch_norm_backward)(const gr_call *call)
{
    const extent e = extent_of(call);
    for (int64_t c = 0; c < e.C; c++)
        differentiate(call, &e, c);
    for (int64_t i = 0; call->d_in[3] && i < e.n * e.C; i++)
        give(call, 3, i, upstream(call, i));
}
