/*
 * knee.c - samples a second over powers of two, until twice as many samples in a batch make less than 5 % more of them
 * two times in a row. The weights hardly move meanwhile: a learning rate of nearly nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "find_batch/finder.h"

enum { WARM_UP = 2, LEAST = 5, MOST = 400 }; /* updates of one batch size: left out, timed */

static const double LEAST_SECONDS = 0.5, MOST_SECONDS = 3, GOOD_ERROR = 0.01, LEAST_GAIN = 1.05, NO_RATE = 1e-30;

typedef struct {
    int64_t batch;
    double seconds[MOST]; /* of an update */
    int n, seen;
    double last, begin; /* on the run's clock */
    int64_t samples;    /* trained on when last was read */
    double error;       /* see speed */
} timing;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * Middle of the times, which one slow update does not move, and its standard error as a share of it: 1.2533 times that
 * of the mean, whose standard deviation is 1.4826 times the middle distance from the middle (both for normal errors).
 */
static double time_of_update(const timing *t, double *error)
{
    double sorted[MOST], distances[MOST];
    for (int i = 0; i < t->n; i++)
        sorted[i] = t->seconds[i];
    const double time = middle(sorted, t->n);
    for (int i = 0; i < t->n; i++)
        distances[i] = fabs(t->seconds[i] - time);
    *error = 1.2533 * 1.4826 * middle(distances, t->n) / sqrt(t->n) / time;
    return time;
}

/* Another update. False: that is enough. */
static bool on_update(void *user, const gr_progress *p)
{
    timing *t = user;
    if (p->epoch_end)
        return true;
    const bool whole = p->samples - t->samples == t->batch; /* not an epoch's short last batch */
    if (t->seen++ >= WARM_UP && whole)
        t->seconds[t->n++] = p->seconds - t->last;
    if (t->seen <= WARM_UP)
        t->begin = p->seconds;
    t->last = p->seconds;
    t->samples = p->samples;
    if (t->n < LEAST)
        return t->seen < MOST;
    double error;
    time_of_update(t, &error);
    const double spent = p->seconds - t->begin;
    return t->n < MOST && spent < MOST_SECONDS && (spent < LEAST_SECONDS || error > GOOD_ERROR);
}

static bool time_batch(const finder *f, const site *at, const learner *l, int64_t batch, speed *out)
{
    timing t = {.batch = batch};
    const resolved run = finder_run(f, batch, 0);
    gr_fit_options fit = resolved_fit_updates(&run, 4 * MOST);
    fit.schedule = (gr_schedule){0};
    fit.noise_scale = false;
    fit.sharpness = 0;
    fit.metrics_every = 1; /* the host waits for every update: it is they that are timed */
    fit.report = on_update;
    fit.user = &t;
    gr_fit(l->net, l->opt, (gr_split){.train = at->data.split.train}, &fit);
    if (!gr_ok(at->ctx) || t.n == 0)
        return false;
    *out = (speed){.batch = batch, .updates = t.n};
    out->rate = (double)batch / time_of_update(&t, &out->error);
    return true;
}

void find_knee(const finder *f, const site *at, const learner *l, const fits *found, knee *out)
{
    *out = (knee){.batch = 1};
    int flat = 0; /* sizes in a row that gained next to nothing */
    gr_set_lr(l->opt, NO_RATE);
    for (int64_t batch = 1; batch <= found->batch && out->n < FINDER_SIZES && flat < 2; batch *= 2) {
        char left[64];
        snprintf(left, sizeof left, "updates of %lld", (long long)batch);
        progress_bar(f->progress, left, flat / 2.0, "timed");
        speed *s = &out->speeds[out->n];
        if (!time_batch(f, at, l, batch, s))
            break;
        const bool gains = out->n == 0 || s->rate >= LEAST_GAIN * s[-1].rate;
        out->n++;
        flat = gains ? 0 : flat + 1;
        if (gains)
            out->batch = batch;
    }
    out->reached = flat > 0;
    progress_clear(f->progress);
}
