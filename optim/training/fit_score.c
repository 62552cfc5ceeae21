/* fit_score.c - reading what the device has summed, and what ends a run that has gone bad. */
#include <math.h>
#include <stdio.h>

#include "amp/amp.h"
#include "amp/overflow.h"
#include "optim/training/fit.h"

enum { CHECK_EVERY = 64 }; /* updates after which a loss gone bad is found at the latest */

/* Updates between two looks at whether the loss is finite: fixed, so that no display decides where a run ends. */
static int64_t check_every(const gr_fit_run *f)
{
    return f->ctx->device->wait ? CHECK_EVERY : 1;
}

bool gr__fit_check_due(const gr_fit_run *f)
{
    return f->p.update % check_every(f) == 0 || f->p.batch_in_epoch == f->p.batches;
}

bool gr__fit_reading_due(const gr_fit_run *f)
{
    const gr_fit_options *o = f->o;
    return gr__fit_check_due(f) || (o->metrics_every > 0 && f->p.update % o->metrics_every == 0) ||
           (o->watch_every > 0 && (f->p.update == 1 || gr__seconds() - f->last_seconds >= o->watch_every));
}

void gr__fit_means(const gr_fit_reading *from, const gr_fit_reading *to, double *loss, double *accuracy)
{
    double n = to->samples > from->samples ? (double)(to->samples - from->samples) : NAN;
    *loss = (to->loss - from->loss) / (to->with_loss > from->with_loss ? to->with_loss - from->with_loss : NAN);
    *accuracy = (to->correct - from->correct) / n;
}

/* What has become of the loss scale. */
static void read_scale(gr_fit_run *f)
{
    const gr_scaling s = gr_loss_scaling(f->ctx);
    f->p.loss_scale = s.scale;
    f->p.skipped = s.skipped - f->skipped;
    f->stuck = s.stuck;
}

void gr__fit_read_score(gr_fit_run *f)
{
    if (!gr__score_read(&f->score))
        return;
    const double with_loss = f->ctx->scaler ? f->score.sums[2] : (double)f->p.samples;
    const gr_fit_reading now = {f->score.sums[0], f->score.sums[1], with_loss, f->p.samples};
    gr__fit_means(&f->last, &now, &f->p.loss, &f->p.accuracy);
    f->last = now;
    f->last_seconds = gr__seconds();
    f->p.fresh = true;
    read_scale(f);
}

void gr__fit_check_loss(gr_fit_run *f)
{
    if (!gr_ok(f->ctx) || isfinite(f->last.loss))
        return;
    char before[64] = "";
    if (check_every(f) > 1)
        snprintf(before, sizeof before, " or up to %d before", CHECK_EVERY - 1);
    gr__fail(f->ctx, GR_NUMERIC, "the loss is not finite at update %lld%s (epoch %lld); try a lower learning rate",
             (long long)f->p.update, before, (long long)f->p.epoch);
}

void gr__fit_explain_overflow(gr_fit_run *f, const gr_batch *batch)
{
    gr_overflow_watch watch;
    gr__overflow_watch_begin(f->ctx, &watch);
    gr_backward(gr_add_penalty(f->net, gr_loss(gr_forward(f->net, batch->x), batch)));
    gr__overflow_watch_end(f->ctx);
    gr__fail(f->ctx, GR_NUMERIC,
             "the loss scale is stuck at %g: up to update %lld several in a row had infinities among their gradients, "
             "which first "
             "appear in %s; use a lower learning rate, bf16 or fp32",
             f->p.loss_scale, (long long)f->p.update,
             *watch.where ? watch.where : "no operation when a batch is run again");
}
