/*
 * composition.c - fused operations against the operations they replace: the composition runs through the public fronts
 * and the tape, on ref in double and on cpu, and must give the fused operation's truth.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "tests/table/answer.h"
#include "tests/table/checks.h"
#include "tests/table/draw.h"
#include "tests/table/report.h"
#include "tests/table/tile_bound.h"

static gr_tensor *conv2d_then_relu(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    gr_conv2d_args args = *(const gr_conv2d_args *)r->args; /* those of the fused operation begin with them */
    args.relu = false;
    return gr_relu(gr_conv2d(in[0], in[1], in[2], &args));
}

static gr_tensor *dense_then_relu(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_relu(gr_dense(in[0], in[1], in[2], NULL));
}

static gr_tensor *conv2d_then_relu_then_max_pool(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    return gr_max_pool2d(conv2d_then_relu(r, in, db), &((const gr_conv2d_relu_max_pool_args *)r->args)->pool);
}

static gr_tensor *add_then_relu(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)r, (void)db;
    return gr_relu(gr_add(in[0], in[1], NULL));
}

static gr_tensor *batch_norm_then_add_then_relu(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    (void)db;
    gr_statistics running = {in[4], in[5]}, tracked = {in[6], in[7]};
    gr_batch_norm_args args = *(const gr_batch_norm_args *)r->args;
    args.relu = false;
    gr_tensor *y = gr_batch_norm(in[0], in[1], in[2], NULL, in[4] ? &running : NULL, &args, in[6] ? &tracked : NULL);
    y = in[3] ? gr_add(y, in[3], NULL) : y;
    return row_has(r, "relu") ? gr_relu(y) : y;
}

/* A copy of a tensor of the caller's as a leaf of the tape. */
static gr_tensor *leaf(gr_tensor *t)
{
    gr_tensor *copy = gr_variable(t->ctx, t->ndim, t->shape);
    double *values = front_values(t);
    if (copy)
        front_fill(copy, values);
    free(values);
    return copy;
}

/* dY where the layer's result y, if given, is above 0. */
static double *masked(gr_tensor *dy, gr_tensor *y)
{
    double *values = front_values(dy), *mask = y ? front_values(y) : NULL;
    for (int64_t i = 0; mask && i < gr_count(dy); i++)
        values[i] = mask[i] > 0 ? values[i] : 0;
    free(mask);
    return values;
}

/* Takes the row's loss scale out of a gradient. */
static bool unscaled(const row *r, gr_tensor *g)
{
    gr_tensor *scaler = gr_tensor_new(g->ctx, gr_real(g->ctx), 1, (int64_t[]){GR_SCALER_VALUES});
    const double values[GR_SCALER_VALUES] = {[GR_SCALER_SCALE] = (double)r->state.loss_scale};
    return scaler && front_fill(scaler, values) && gr_unscale(g, scaler);
}

/* Gradients of a dense layer by the tape, then the optimizer's step over w; returns dx. */
static gr_tensor *dense_then_step(const row *r, gr_tensor *const *in, gr_tensor *db)
{
    enum { X, DY, W, Y, M, V };
    gr_tensor *x = leaf(in[X]), *w = leaf(in[W]), *b = gr_variable(in[X]->ctx, 1, &in[W]->shape[1]);
    double *dy = masked(in[DY], in[Y]);
    bool good = gr_backward(answer_dot(gr_dense(x, w, b, NULL), dy));
    free(dy);
    good = good && unscaled(r, gr_grad(w));
    good = good && (r->op->id == GR_OP_dense_sgd
                        ? gr_sgd_step(in[W], gr_grad(w), NULL)
                        : gr_adam_step(in[W], gr_grad(w), in[M], in[V], (const gr_adam_args *)r->args));
    if (!good)
        return NULL;
    double *values = front_values(gr_grad(b));
    if (db)
        front_fill(db, values);
    free(values);
    return r->no_dx ? in[X] : gr_grad(x);
}

static answer_fn composition_of(const row *r)
{
    switch (r->op->id) {
    case GR_OP_conv2d:
        return row_has(r, "relu") ? conv2d_then_relu : NULL;
    case GR_OP_dense:
        return row_has(r, "relu") ? dense_then_relu : NULL;
    case GR_OP_batch_norm:
        return row_has(r, "relu") || r->ndim[3] >= 0 ? batch_norm_then_add_then_relu : NULL;
    case GR_OP_add:
        return row_has(r, "relu") ? add_then_relu : NULL;
    case GR_OP_conv2d_relu_max_pool:
        return conv2d_then_relu_then_max_pool;
    case GR_OP_dense_sgd:
    case GR_OP_dense_adam:
        return dense_then_step;
    default:
        return NULL;
    }
}

/* One result of the composition. The convolution in it may be computed another way than the fused operation's. */
static void compare_result(const truth *t, int buffer, const double *got, const char *device, double eps)
{
    double *magnitude = eps > DBL_EPSILON ? tile_magnitudes(t, buffer) : NULL;
    truth_compare(t, buffer, got, NULL, (exactness){.eps = eps, .times = 2, .magnitude = magnitude}, device,
                  "composition");
    free(magnitude);
}

static void compare(const truth *t, const char *device, double eps)
{
    row once = *t->run.row;
    once.updates = 1;
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    answer a;
    if (answer_get(ctx, &once, composition_of(&once), &a)) {
        for (int i = 0; i < TRIAL_SLOTS; i++)
            if (a.value[i] && t->magnitude[i])
                compare_result(t, i, a.value[i], device, eps);
    } else {
        report_failure(t->run.row, device, "composition: %s", gr_error_text(ctx));
    }
    answer_free(&a);
    gr_close(ctx);
}

void check_composition(const truth *t)
{
    if (!composition_of(t->run.row))
        return;
    compare(t, "ref", DBL_EPSILON);
    compare(t, "cpu", (double)FLT_EPSILON);
}
