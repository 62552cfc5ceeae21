/*
 * batch_norm_bound.c - a result of batch_norm is not a sum of products of its inputs, so running it on absolute inputs
 * says little. With s = 1 / sqrt(v + eps), |h| = (|x| + mean|x|) s and K values per channel:
 *
 *   y          |gamma| |h| + |beta| + |residual|
 *   batch_mean mean|x|                       batch_var  mean (|x| + mean|x|)^2
 *   tracked    |itself, before| + momentum (the statistic's + |itself, before|), of the variance k/(k-1) times it
 *   dbeta      sum |dY|                      dgamma     sum |dY| |h|
 *   dX         |gamma| s (|dY| + sum|dY| / K + |h| sum(|dY| |h|) / K)
 */
#include "tests/table/batch_norm_bound.h"

#include <math.h>

enum { X, GAMMA, BETA, RESIDUAL, MEAN, VAR, TRACKED_MEAN, TRACKED_VAR };

typedef struct {
    const trial *run;
    int64_t C, n, c; /* channels, values in each, the one looked at */
    bool given;
    double s, mean_x, squares, dy, dy_h; /* mean|x|, mean (|x| + mean|x|)^2, sum|dY|, sum|dY||h| */
} channel;

static double size(const channel *k, int buffer, int64_t i)
{
    return trial_count(k->run, buffer) ? fabs(trial_get(k->run, buffer, i)) : 0;
}

static double h(const channel *k, int64_t i)
{
    return (size(k, X, i) + k->mean_x) * k->s;
}

static channel look_at(const trial *run, int64_t c)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)run->shapes.args;
    channel k = {.run = run, .C = trial_count(run, GAMMA), .c = c};
    k.n = trial_count(run, X) / k.C;
    k.given = trial_count(run, VAR);
    k.s = 1 / sqrt(trial_get(run, k.given ? VAR : trial_out(2), c) + args->epsilon);
    for (int64_t i = c; i < k.n * k.C; i += k.C)
        k.mean_x += size(&k, X, i) / (double)k.n;
    k.mean_x = k.given ? size(&k, MEAN, c) : k.mean_x;
    for (int64_t i = c; i < k.n * k.C; i += k.C) {
        k.squares += pow(size(&k, X, i) + k.mean_x, 2) / (double)k.n;
        k.dy += size(&k, TRIAL_D_OUT, i);
        k.dy_h += size(&k, TRIAL_D_OUT, i) * h(&k, i);
    }
    return k;
}

/* Of what moves towards a statistic of this size. */
static double of_tracked(const channel *k, int buffer, double statistic)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)k->run->shapes.args;
    const double before = fabs(((const double *)(const void *)k->run->buffers[buffer].before)[k->c]);
    return before + args->momentum * (statistic + before);
}

/* Of a result with one value per channel. */
static double of_channel(const channel *k, int buffer)
{
    const gr_batch_norm_args *args = (const gr_batch_norm_args *)k->run->shapes.args;
    const double values = (double)args->values;
    if (buffer == TRACKED_MEAN)
        return of_tracked(k, buffer, k->mean_x);
    if (buffer == TRACKED_VAR)
        return of_tracked(k, buffer, values / (values - 1) * (k->given ? size(k, VAR, k->c) : k->squares));
    return buffer == trial_out(1)        ? k->mean_x
           : buffer == trial_out(2)      ? k->squares
           : buffer == trial_d_in(GAMMA) ? k->dy_h
                                         : k->dy;
}

/* Of element i of y, dX or dresidual. */
static double of_element(const channel *k, int buffer, int64_t i)
{
    const double K = (double)k->n, gamma = size(k, GAMMA, k->c), dy = size(k, TRIAL_D_OUT, i);
    if (buffer == trial_out(0))
        return gamma * h(k, i) + size(k, BETA, k->c) + size(k, RESIDUAL, i);
    return buffer == trial_d_in(X) ? gamma * k->s * (dy + k->dy / K + h(k, i) * k->dy_h / K) : dy;
}

void batch_norm_magnitudes(const trial *run, int buffer, double *magnitude)
{
    const int64_t C = trial_count(run, GAMMA);
    for (int64_t c = 0; c < C; c++) {
        const channel k = look_at(run, c);
        if (trial_count(run, buffer) == C && buffer != trial_out(0) && buffer != trial_d_in(X) &&
            buffer != trial_d_in(RESIDUAL))
            magnitude[c] = of_channel(&k, buffer);
        else
            for (int64_t i = c; i < k.n * C; i += C)
                magnitude[i] = of_element(&k, buffer, i);
    }
}
