/*
 * losses.c - reference of the losses. weight_n: of sample n in the whole update.
 *
 *   softmax_cross_entropy, of many classes
 *     prob[n,j] = exp(z[n,j] - max_n) / sum_j exp(z[n,j] - max_n)     the maximum keeps exp from overflowing
 *     t[n,j]    = (1 - e) [j = label_n] + e / C                       the target, with smoothing e
 *     loss      = sum_n weight_n (log sum_j exp(z[n,j] - max_n) + max_n - sum_j t[n,j] z[n,j])
 *     dZ[n,j]   = dL weight_n (prob[n,j] - t[n,j])
 *
 *   sigmoid_bce, of two classes; t is the label, s = sigmoid(z)
 *     loss  = sum_n weight_n (max(u, 0) + log(1 + exp(-|z|))), u = z for t = 0, -z for t = 1
 *           = sum_n weight_n (-t log s - (1 - t) log(1 - s)); no z t: an infinite logit on the right side costs 0
 *     dZ[n] = dL weight_n (s - t)
 */
#include "kernels/ref/ref.h"

/* Weight of sample n in the loss of the whole update. */
static wide sample_weight(const gr_call *call, int64_t n)
{
    const real *weight = reals(call->in[2]);
    double inv = call->exec->state->inv_weight;
    return (weight ? (wide)weight[n] : 1) * (inv > 0 ? inv : 1.0 / (double)call->in[0]->shape[0]);
}

/* dL, scaled. */
static wide seed_of(const gr_call *call)
{
    return (wide)reals(call->d_out[0])[0] * call->exec->state->loss_scale;
}

/* sum_j t[j] z[j]; a class of no weight may have the logit -infinity. */
static wide expected(const real *z, int64_t C, int64_t label, wide smoothing)
{
    wide sum = 0;
    for (int64_t j = 0; smoothing > 0 && j < C; j++)
        sum += (wide)z[j];
    return (1 - smoothing) * (wide)z[label] + smoothing * sum / (wide)C;
}

/* t[n,j]; NaN where the label is none, so that weights cannot follow it unseen. */
static wide target_of(int32_t label, int64_t j, int64_t C, wide smoothing)
{
    return label < 0 || label >= C ? (wide)NAN : (1 - smoothing) * (j == label) + smoothing / (wide)C;
}

/* Loss of row n without its weight; fills prob (or not: NULL). NaN where the label is none. */
static wide row_loss(const real *z, int64_t C, int64_t label, wide smoothing, real *prob)
{
    wide largest = (wide)z[0], sum = 0;
    for (int64_t j = 1; j < C; j++)
        largest = (wide)z[j] > largest || isnan(z[j]) ? (wide)z[j] : largest;
    for (int64_t j = 0; j < C; j++)
        sum += exp((wide)z[j] - largest);
    for (int64_t j = 0; prob && j < C; j++)
        prob[j] = (real)(exp((wide)z[j] - largest) / sum);
    return label < 0 || label >= C ? (wide)NAN : log(sum) + largest - expected(z, C, label, smoothing);
}

void GR_REF(softmax_cross_entropy_forward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const real *z = reals(call->in[0]);           /* [N,C] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    real *prob = reals(call->out[1]);             /* [N,C] or NULL */
    const gr_cross_entropy_args *args = call->options;
    wide loss = 0;
    for (int64_t n = 0; n < N; n++)
        loss += sample_weight(call, n) * row_loss(z + n * C, C, labels[n], args->smoothing, prob ? prob + n * C : NULL);
    reals(call->out[0])[0] = (real)loss;
}

void GR_REF(softmax_cross_entropy_backward)(const gr_call *call)
{
    const int64_t N = call->in[0]->shape[0], C = call->in[0]->shape[1];
    const real *prob = reals(call->out[1]);       /* [N,C] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    const wide seed = seed_of(call);
    const wide smoothing = ((const gr_cross_entropy_args *)call->options)->smoothing;
    for (int64_t n = 0; call->d_in[0] && n < N; n++)
        for (int64_t j = 0; j < C; j++)
            give(call, 0, n * C + j,
                 seed * sample_weight(call, n) * ((wide)prob[n * C + j] - target_of(labels[n], j, C, smoothing)));
}

void GR_REF(sigmoid_bce_forward)(const gr_call *call)
{
    const real *z = reals(call->in[0]);           /* [N,1] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    wide loss = 0;
    for (int64_t n = 0; n < call->in[0]->shape[0]; n++) {
        const wide v = (wide)z[n], wrong = labels[n] == 0 ? v : labels[n] == 1 ? -v : (wide)NAN;
        loss += sample_weight(call, n) * (relu(wrong) + log1p(exp(-fabs(v))));
    }
    reals(call->out[0])[0] = (real)loss;
}

void GR_REF(sigmoid_bce_backward)(const gr_call *call)
{
    const real *z = reals(call->in[0]);           /* [N,1] */
    const int32_t *labels = gr__i32(call->in[1]); /* [N] */
    const wide seed = seed_of(call);
    for (int64_t n = 0; call->d_in[0] && n < call->in[0]->shape[0]; n++)
        give(call, 0, n, seed * sample_weight(call, n) * (1 / (1 + exp(-(wide)z[n])) - target_of(labels[n], 1, 2, 0)));
}
