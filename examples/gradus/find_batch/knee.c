/*
 * knee.c - samples a second over powers of two, until twice as many samples in a batch make less than 5 % more of them
 * two times in a row. The weights hardly move meanwhile: a learning rate of nearly nothing. Other work on the machine
 * only ever slows, for seconds maybe: a size whose speed is odd beside its neighbour's is timed again, and the fastest
 * turn counts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "find_batch/finder.h"

enum { WARM_UP = 2, LEAST = 5, MOST = 400 }; /* updates of one batch size: left out, timed */
enum { TURNS = 4 /* at most, of a size that looks odd */ };

static const double LEAST_SECONDS = 0.5, MOST_SECONDS = 3, GOOD_ERROR = 0.01, LEAST_GAIN = 1.05, NO_RATE = 1e-30,
                    ODD_LOSS = 0.9;

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
    fit.synchronised = false; /* one rank alone passes all shards */
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

/* Another turn of a size that was timed. */
static bool time_again(const finder *f, const site *at, const learner *l, speed *s, knee *out)
{
    speed again;
    if (!time_batch(f, at, l, s->batch, &again))
        return false;
    const double slower = fmin(s->rate, again.rate), faster = fmax(s->rate, again.rate);
    out->spread = fmax(out->spread, 1 - slower / faster);
    if (again.rate > s->rate)
        *s = again;
    return true;
}

/* Twice as many samples do not come at more than twice the rate, and hardly at a much lower one: one was slowed. */
static speed *odd_one(speed *last)
{
    const double gain = last->rate / last[-1].rate;
    return gain > 2 * LEAST_GAIN ? last - 1 : gain < ODD_LOSS ? last : NULL;
}

/* The last size beside the one before. False: an error. */
static bool settle(const finder *f, const site *at, const learner *l, knee *out)
{
    speed *last = &out->speeds[out->n - 1], *odd;
    for (int turn = 1; out->n > 1 && turn < TURNS && (odd = odd_one(last)); turn++) {
        const double before = odd->rate;
        if (!time_again(f, at, l, odd, out))
            return false;
        if (odd == last && odd->rate < LEAST_GAIN * before) /* it is so, or what slows it by now slows the other, too */
            return time_again(f, at, l, last - 1, out);
    }
    return true;
}

/* The knee by what was timed. Returns how many sizes in a row gained next to nothing, the last of them the last. */
static int bend(knee *out)
{
    int flat = 0;
    out->batch = 1;
    for (int i = 1; i < out->n; i++) {
        const bool gains = out->speeds[i].rate >= LEAST_GAIN * out->speeds[i - 1].rate;
        flat = gains ? 0 : flat + 1;
        if (gains)
            out->batch = out->speeds[i].batch;
    }
    return flat;
}

void find_knee(const finder *f, const site *at, const learner *l, const fits *found, knee *out)
{
    *out = (knee){.batch = 1};
    int flat = 0;
    gr_set_lr(l->opt, NO_RATE);
    for (int64_t batch = 1; batch <= found->batch && out->n < FINDER_SIZES && flat < 2; batch *= 2) {
        char left[64];
        snprintf(left, sizeof left, "updates of %lld", (long long)batch);
        progress_bar(f->progress, left, flat / 2.0, "timed");
        if (!time_batch(f, at, l, batch, &out->speeds[out->n]))
            break;
        out->n++;
        if (!settle(f, at, l, out))
            break;
        flat = bend(out);
        if (flat == 2 && time_again(f, at, l, &out->speeds[out->n - 2], out)) /* that would be the end */
            flat = bend(out);
    }
    out->reached = flat > 0;
    progress_clear(f->progress);
}
