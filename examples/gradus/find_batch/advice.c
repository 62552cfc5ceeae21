/*
 * advice.c - the batch size that is soonest at a result. With batches of B a result takes 1 + B / S times the fewest
 * samples that it could take, S being the noise scale (McCandlish et al. 2018, equation 2.11), and samples come at the
 * measured rate: so the time goes as (1 + B / S) / rate(B).
 */
#include <math.h>
#include <stdio.h>

#include "find_batch/finder.h"

static const double AS_GOOD = 1.05; /* times the least time: the smaller batch is taken, it takes fewer samples */

static double time_by(const speed *s, double scale)
{
    return (1 + (double)s->batch / scale) / s->rate;
}

/* Of the batch sizes that were timed; the noise scale is known. */
static const speed *soonest(const knee *k, double scale)
{
    double least = INFINITY;
    for (int i = 0; i < k->n; i++)
        least = fmin(least, time_by(&k->speeds[i], scale));
    int i = 0;
    while (time_by(&k->speeds[i], scale) > AS_GOOD * least)
        i++;
    return &k->speeds[i];
}

static const speed *speed_of(const knee *k, int64_t batch)
{
    int i = 0;
    while (k->speeds[i].batch < batch)
        i++;
    return &k->speeds[i];
}

/* Why this one of the sizes that were timed. */
static void give_reason(const fits *found, const knee *k, const useful *u, advice *out)
{
    const double rate = speed_of(k, out->batch)->rate, best = speed_of(k, k->batch)->rate;
    const char *ended = k->reached     ? "more samples in a batch hardly make it faster"
                        : found->whole ? "twice as many are more than the training set has"
                                       : "twice as many are more than memory has room for";
    if (!isfinite(u->scale))
        snprintf(out->reason, sizeof out->reason, "from %lld on %s; how large a batch is still useful is not known: %s",
                 (long long)k->batch, ended, u->why);
    else if (out->batch < k->batch)
        snprintf(
            out->reason, sizeof out->reason,
            "at the noise scale of %.0f a larger batch wastes more samples than its speed brings; it makes %.0f %% "
            "of the most samples/s",
            u->scale, 100 * rate / best);
    else
        snprintf(out->reason, sizeof out->reason,
                 "from %lld on %s, and at the noise scale of %.0f larger batches only waste samples",
                 (long long)k->batch, ended, u->scale);
}

static void give_reason_of_wish(const fits *found, advice *out)
{
    if (out->accumulate > 1)
        snprintf(out->reason, sizeof out->reason,
                 "asked for; memory holds %lld at a time, so that an update is made of %lld pieces",
                 (long long)out->micro_batch, (long long)out->accumulate);
    else
        snprintf(out->reason, sizeof out->reason, "asked for; memory holds up to %lld", (long long)found->batch);
}

void advise(const finder *f, const fits *found, const knee *k, const useful *u, advice *out)
{
    const int64_t wish = finder_wish(f);
    *out = (advice){.batch = wish                 ? wish
                             : isfinite(u->scale) ? soonest(k, u->scale)->batch
                                                  : k->batch,
                    .micro_batch = found->micro_batch,
                    .accumulate = 1};
    if (found->micro_batch)
        out->accumulate = (out->batch + found->micro_batch - 1) / found->micro_batch;
    out->lr = finder_run(f, out->batch, out->micro_batch).lr;
    if (wish)
        give_reason_of_wish(found, out);
    else
        give_reason(found, k, u, out);
}
