/*
 * twice.c - one tensor in two places: as a leaf and as an intermediate result, in two slots of one operation and in two
 * operations. Every gradient is checked against central differences on ref, and cpu against ref.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/context.h"
#include "tests/table/answer.h"
#include "tests/table/checks.h"

enum { COUNT = 54, RESULTS = 4096 };

typedef gr_tensor *(*graph_fn)(gr_tensor *x);

/* y = x x, a leaf in both slots. x[3,3] */
static gr_tensor *dense_of_a_leaf(gr_tensor *x)
{
    return gr_dense(x, x, NULL, NULL);
}

/* y = s s with s = sigmoid(x): an intermediate result in both slots. */
static gr_tensor *dense_of_a_result(gr_tensor *x)
{
    gr_tensor *s = gr_sigmoid(x);
    return gr_dense(s, s, NULL, NULL);
}

/* y = (x s) s with s = sigmoid(x): x in two operations, s in two operations. */
static gr_tensor *dense_twice(gr_tensor *x)
{
    gr_tensor *s = gr_sigmoid(x);
    return gr_dense(gr_dense(x, s, NULL, NULL), s, NULL, NULL);
}

/* Images and filters are one tensor. x[3,3,3,2] */
static gr_tensor *conv2d_of_a_leaf(gr_tensor *x)
{
    return gr_conv2d(x, x, NULL, &(gr_conv2d_args){.window.padding = GR_SAME});
}

/* Two convolutions with the same filters, whose gradient is written by one and added to by the other. x[3,3,3,3] */
static gr_tensor *conv2d_twice(gr_tensor *x)
{
    gr_conv2d_args args = {.window.padding = GR_SAME};
    return gr_conv2d(gr_conv2d(gr_sigmoid(x), x, NULL, &args), x, NULL, &args);
}

/* y = x flatten(x)': one storage under two shapes. x[3,3] */
static gr_tensor *flattened(gr_tensor *x)
{
    gr_tensor *s = gr_sigmoid(x);
    return gr_dense(gr_flatten(s), s, NULL, NULL);
}

typedef struct {
    const char *name;
    graph_fn graph;
    int ndim;
    int64_t shape[GR_MAX_DIMS];
} use;

static const use uses[] = {
    {"dense(x, x)", dense_of_a_leaf, 2, {3, 3}},
    {"dense(s, s)", dense_of_a_result, 2, {3, 3}},
    {"dense(dense(x, s), s)", dense_twice, 2, {3, 3}},
    {"conv2d(x, x)", conv2d_of_a_leaf, 4, {3, 3, 3, 2}},
    {"conv2d(conv2d(s, x), x)", conv2d_twice, 4, {3, 3, 3, 3}},
    {"dense(flatten(s), s)", flattened, 2, {3, 3}},
};

/* Value of L = sum_i cos(i) y_i at x, and dL/dx if gradient is not NULL. */
static double evaluate(gr_context *ctx, const use *u, const double *x, double *gradient)
{
    static double weights[RESULTS];
    for (int i = 0; i < RESULTS; i++)
        weights[i] = cos(i);
    gr_tensor *v = gr_variable(ctx, u->ndim, u->shape);
    front_fill(v, x);
    gr_tensor *loss = answer_dot(u->graph(v), weights);
    double value = gr_item(loss);
    if (gradient && gr_backward(loss)) {
        double *g = front_values(gr_grad(v));
        for (int64_t i = 0; i < gr_count(v); i++)
            gradient[i] = g[i];
        free(g);
    }
    gr_step_end(ctx);
    return value;
}

/* Both devices' gradients against differences on ref. */
static int check(const use *u)
{
    const double h = 1e-5;
    gr_context *ref = gr_open(&(gr_options){.device = "ref"}), *cpu = gr_open(NULL);
    int64_t count = 1;
    for (int i = 0; i < u->ndim; i++)
        count *= u->shape[i];
    double x[2 * COUNT], exact[2 * COUNT] = {0}, single[2 * COUNT] = {0};
    for (int64_t i = 0; i < count; i++)
        x[i] = (double)(float)sin(1 + (double)i);
    evaluate(ref, u, x, exact);
    evaluate(cpu, u, x, single);
    int failures = 0;
    for (int64_t i = 0; i < count && !failures; i++) {
        double at = x[i];
        x[i] = at + h;
        double up = evaluate(ref, u, x, NULL);
        x[i] = at - h;
        double numeric = (up - evaluate(ref, u, x, NULL)) / (2 * h);
        x[i] = at;
        failures = fabs(exact[i] - numeric) > 1e-7 * (1 + fabs(numeric)) || fabs(single[i] - exact[i]) > 1e-4;
        if (failures)
            printf("FAIL twice: %s: gradient [%lld] is %.9g on ref, %.9g on cpu, by differences %.9g; %s%s\n", u->name,
                   (long long)i, exact[i], single[i], numeric, gr_error_text(ref), gr_error_text(cpu));
    }
    gr_close(cpu);
    gr_close(ref);
    return failures;
}

int check_twice(void)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        failures += check(&uses[i]);
    return failures;
}
