/*
 * muon.c - Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/): a matrix of weights moves by the
 * orthogonal matrix nearest to its Nesterov momentum D, so that all directions of the gradient count alike.
 *
 * With the singular values of X = D / |D| in [0, 1], X = a X + (b A + c A A) X, where A = X X^T, brings them near 1 in
 * a few steps (Newton and Schulz's iteration, with the post's a, b, c: quick from small values, between 0.7 and 1.2 at
 * the end). A tall matrix is multiplied from the other side, X (b A + c A A) with A = X^T X. All products are those of
 * a dense layer's backward pass, which every device has.
 */
#include <math.h>

#include "nn/module.h"
#include "optim/optimizer.h"

static const double A = 3.4445, B = -4.7750, C = 2.0315; /* of the iteration */

enum { X = 0, W = 1 }; /* input slots of dense */

/* dX of a dense layer with weights b, a[m,k] being the gradient of its result: sum[m,n] = (+=) a b[n,k]^T. */
static bool times_transposed(gr_tensor *a, gr_tensor *b, gr_tensor *sum, bool add)
{
    gr_call call = {.options = &(gr_dense_args){0}, .in = {sum, b}, .d_in = {sum}, .out = {a}, .d_out = {a}};
    call.accumulate = add ? 1u << X : 0;
    return gr__run_kernel(a->ctx, &gr__ops[GR_OP_dense], &call, GR_BACKWARD);
}

/* dW of a dense layer whose input is a[k,m], b[k,n] being the gradient of its result: sum[m,n] = (+=) a^T b. */
static bool transposed_times(gr_tensor *a, gr_tensor *b, gr_tensor *sum, bool add)
{
    gr_call call = {.options = &(gr_dense_args){0}, .in = {a, sum}, .d_in = {NULL, sum}, .out = {b}, .d_out = {b}};
    call.accumulate = add ? 1u << W : 0;
    return gr__run_kernel(a->ctx, &gr__ops[GR_OP_dense], &call, GR_BACKWARD);
}

/* scale (b A + c A A) of A[n,n], symmetric, which it releases. NULL: recorded. */
static gr_tensor *polynomial(gr_tensor *a, double scale)
{
    gr_tensor *sum = gr_scale(a, B * scale), *ca = gr_scale(a, C * scale);
    const bool good = sum && ca && times_transposed(a, ca, sum, true);
    gr__release(ca);
    gr__release(a);
    return good ? sum : NULL;
}

/* One step of the iteration, times scale, from x, which it releases. NULL: recorded. */
static gr_tensor *step_towards_orthogonal(gr_tensor *x, double scale)
{
    const bool tall = x->shape[0] > x->shape[1];
    const int64_t n = tall ? x->shape[1] : x->shape[0];
    gr_tensor *a = gr__tensor_step(x->ctx, x->type, 2, (int64_t[]){n, n});
    if (!a || !(tall ? transposed_times(x, x, a, false) : times_transposed(x, x, a, false)))
        return NULL;
    gr_tensor *p = polynomial(a, scale), *next = gr_scale(x, A * scale);
    const bool good = p && next && (tall ? times_transposed(x, p, next, true) : transposed_times(p, x, next, true));
    gr__release(p);
    gr__release(x);
    return good ? next : NULL;
}

/* The matrix nearest to d[count], nearly, times scale; d is released. NULL: recorded. */
static gr_tensor *orthogonal(gr_tensor *d, const int64_t shape[2], int steps, double scale)
{
    gr_tensor *norm = gr_global_norm(d);
    if (!norm || !gr_unit_norm(d, norm, 1))
        return NULL;
    gr_tensor *x = gr__tensor_alias(d, 2, shape);
    if (x)
        gr__transfer_storage(d, x);
    for (int i = 0; x && i < steps; i++)
        x = step_towards_orthogonal(x, i + 1 == steps ? scale : 1);
    return x;
}

static bool step_matrix(gr_optimizer *opt, const gr_run *run, const gr_tensor *w)
{
    const gr_muon_options *o = &opt->muon;
    const int64_t shape[2] = {w->shape[0], w->count / w->shape[0]}; /* a row for a filter, or a dense layer's input */
    const bool filters = w->ndim == 4;
    const double outputs = (double)shape[filters ? 0 : 1], inputs = (double)shape[filters ? 1 : 0];
    gr_tensor *d = gr_nesterov_step(run->m[0], run->g, o->momentum);
    gr_tensor *x = d ? orthogonal(d, shape, o->steps, sqrt(fmax(1, outputs / inputs))) : NULL;
    gr_tensor *norm = x && o->normalise ? gr_global_norm(run->p) : NULL;
    const bool good = x && (!o->normalise || (norm && gr_unit_norm(run->p, norm, sqrt(outputs)))) &&
                      gr_sgd_step(run->p, x, &(gr_sgd_args){run->decay * o->weight_decay});
    gr__release(x);
    return good;
}

/* Whether parameter i is a matrix that Muon is for: weights of any layer but the last. */
static bool is_hidden_matrix(const gr_parameters *list, int i)
{
    int last = list->n - 1;
    while (last > 0 && list->plans[last].role == GR__VECTOR)
        last--;
    return list->plans[i].role != GR__VECTOR && i < last && list->slab->segments[i].value->ndim >= 2;
}

static bool step(gr_optimizer *opt, const gr_run *run)
{
    const gr_parameters *list = opt->net->parameters;
    if (is_hidden_matrix(list, run->first))
        return step_matrix(opt, run, list->slab->segments[run->first].value);
    return gr_momentum_step(run->p, run->g, run->m[0],
                            &(gr_momentum_args){.momentum = opt->muon.rest_momentum,
                                                .nesterov = true,
                                                .weight_decay = run->decay * opt->muon.weight_decay});
}

static const gr_optimizer_class muon_class = {.moments = 1, .by_segment = true, .step_run = step};

static bool check(gr_context *ctx, const gr_muon_options *o)
{
    if (!(o->momentum >= 0 && o->momentum < 1 && o->rest_momentum > 0 && o->rest_momentum < 1))
        return gr__fail(ctx, GR_USAGE,
                        "gr_muon: momentum %g, rest_momentum %g; the first lies in [0, 1), the other between 0 and 1",
                        o->momentum, o->rest_momentum);
    return (o->weight_decay >= 0 && isfinite(o->weight_decay) && o->steps > 0) ||
           gr__fail(ctx, GR_USAGE,
                    "gr_muon: weight decay %g, %d steps; the decay is not negative, and steps are positive",
                    o->weight_decay, o->steps);
}

gr_optimizer *gr_muon(gr_context *ctx, gr_module *net, const gr_muon_options *options)
{
    gr_muon_options o = options ? *options : (gr_muon_options){0};
    o.momentum = gr__or(o.momentum, 0.95);
    o.rest_momentum = gr__or(o.rest_momentum, 0.9);
    o.steps = o.steps != 0 ? o.steps : 5;
    if (!gr_ok(ctx) || !check(ctx, &o))
        return NULL;
    gr_optimizer *opt = gr__optimizer_new(ctx, net, &muon_class, gr__or(o.lr, 0.02));
    if (opt)
        opt->muon = o;
    return opt;
}
