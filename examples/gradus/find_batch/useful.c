/*
 * useful.c - the largest useful batch: the gradient noise scale (McCandlish et al. 2018), measured over the first
 * updates of the recipe's own batch size, but for the very first, whose gradients are large. An update of that many
 * samples takes twice the samples, and half as many updates beyond the fewest, that a result needs.
 */
#include <math.h>
#include <stdio.h>

#include "find_batch/finder.h"
#include "terminal/system.h"

enum { PIECES = 4, FIRST = 30, LEAST = 20, MOST = 100 }; /* of a batch; updates before those that count, that count */

static const double MOST_SECONDS = 30;

/* What the updates tell, each for itself: sums of |G|^2, of tr(Sigma), and of their squares and product. */
typedef struct {
    double g, s, gg, gs, ss, begin;
    int64_t seen, n;
} noise_sums;

static bool on_update(void *user, const gr_progress *p)
{
    noise_sums *t = user;
    const double g = p->update_noise.gradient, s = p->update_noise.noise;
    if (p->epoch_end || !isfinite(g) || t->seen++ < FIRST)
        return true;
    t->g += g;
    t->s += s;
    t->gg += g * g;
    t->gs += g * s;
    t->ss += s * s;
    t->n++;
    return t->n < MOST && (t->n < LEAST || now_seconds() - t->begin < MOST_SECONDS);
}

/*
 * The ratio of the means, and its standard error by linearisation (Cochran, Sampling Techniques, 6.4): that of the mean
 * of s - ratio g, divided by the mean of g. Not known where |G|^2 is not two of its standard errors above zero.
 */
static void tell(const noise_sums *t, useful *out)
{
    const double n = (double)t->n, ratio = t->s / t->g;
    const double rest = t->ss - 2 * ratio * t->gs + ratio * ratio * t->gg; /* sum of (s - ratio g)^2; its mean is 0 */
    const double spread_of_g = sqrt((t->gg - t->g * t->g / n) / (n - 1) / n);
    if (t->n < LEAST)
        snprintf(out->why, sizeof out->why, "only %lld updates could be measured", (long long)t->n);
    else if (!(t->g / n > 2 * spread_of_g && ratio > 0))
        snprintf(out->why, sizeof out->why,
                 "over %lld updates of %lld the gradient is lost in its noise, which is that of %.0f samples or more",
                 (long long)t->n, (long long)out->batch, fmax(0, t->s / (fmax(t->g, 0) + 2 * n * spread_of_g)));
    else {
        out->scale = ratio;
        out->error = sqrt(fmax(rest, 0) / (n - 1) / n) / (t->g / n);
    }
}

/* Whether a run that ended so says something of what was to be measured. Other ends are the data's or the device's. */
static bool is_finding(gr_code code)
{
    return code == GR_USAGE || code == GR_NO_MEMORY || code == GR_NUMERIC;
}

void find_useful(const finder *f, const site *at, const learner *l, const fits *found, useful *out)
{
    const int64_t usual = f->recipe->batch < found->batch ? f->recipe->batch : found->batch;
    *out = (useful){.scale = NAN, .error = NAN, .batch = usual};
    if (usual < 2) {
        snprintf(out->why, sizeof out->why, "it takes a batch of two at the least");
        return;
    }
    const resolved run = finder_run(f, usual, (usual + PIECES - 1) / PIECES);
    noise_sums t = {.begin = now_seconds()};
    /* an epoch's last batch may be too short */
    gr_fit_options fit = resolved_fit_updates(&run, 2 * (FIRST + MOST));
    fit.schedule = (gr_schedule){0};
    fit.noise_scale = true;
    fit.shards = 1;
    fit.synchronised = false;
    fit.sharpness = 0;
    fit.report = on_update;
    fit.user = &t;
    progress_bar(f->progress, "noise scale", 0, "of the first updates");
    gr_set_lr(l->opt, run.lr);
    gr_fit(l->net, l->opt, (gr_split){.train = at->data.split.train}, &fit);
    progress_clear(f->progress);
    out->updates = t.n;
    if (gr_ok(at->ctx))
        tell(&t, out);
    else if (is_finding(gr_error_code(at->ctx))) {
        snprintf(out->why, sizeof out->why, "%s", gr_error_text(at->ctx));
        gr_clear_error(at->ctx);
    }
}
