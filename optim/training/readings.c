/* readings.c - see readings.h. */
#include "optim/training/readings.h"

#include <math.h>
#include <stdio.h>

#include "amp/amp.h"
#include "core/clock.h"

enum { CHECK_EVERY = 64 }; /* updates after which a loss gone bad is found at the latest */

bool gr__readings_open(gr_readings *r, gr_context *ctx, const gr_fit_options *o)
{
    *r = (gr_readings){.ctx = ctx, .o = o, .skipped = gr_loss_scaling(ctx).skipped};
    return gr__score_open(ctx, &r->score, ctx->scaler ? 2 : 1);
}

void gr__readings_close(gr_readings *r)
{
    if (r->ctx)
        gr__score_close(r->ctx, &r->score);
}

/* Updates between two looks at whether the loss is finite: fixed, so that no display decides where a run ends. */
static int64_t check_every(const gr_readings *r)
{
    return r->ctx->device->wait ? CHECK_EVERY : 1;
}

bool gr__check_due(const gr_readings *r, const gr_progress *p)
{
    return p->update % check_every(r) == 0 || p->batch_in_epoch == p->batches;
}

bool gr__reading_due(const gr_readings *r, const gr_progress *p)
{
    const gr_fit_options *o = r->o;
    return gr__check_due(r, p) || (o->metrics_every > 0 && p->update % o->metrics_every == 0) ||
           (o->watch_every > 0 && (p->update == 1 || gr__seconds() - r->seconds >= o->watch_every));
}

void gr__reading_means(const gr_reading *from, const gr_reading *to, double *loss, double *accuracy)
{
    double n = to->samples > from->samples ? (double)(to->samples - from->samples) : NAN;
    *loss = (to->loss - from->loss) / (to->with_loss > from->with_loss ? to->with_loss - from->with_loss : NAN);
    *accuracy = (to->correct - from->correct) / n;
}

void gr__readings_read(gr_readings *r, gr_progress *p)
{
    if (!gr__score_read(&r->score))
        return;
    const double with_loss = r->ctx->scaler ? r->score.sums[2] : (double)p->samples;
    const gr_reading now = {r->score.sums[0], r->score.sums[1], with_loss, p->samples};
    gr__reading_means(&r->last, &now, &p->loss, &p->accuracy);
    r->last = now;
    r->seconds = gr__seconds();
    p->fresh = true;
    const gr_scaling scaling = gr_loss_scaling(r->ctx);
    p->loss_scale = scaling.scale;
    p->skipped = scaling.skipped - r->skipped;
    r->stuck = scaling.stuck;
}

void gr__readings_check(const gr_readings *r, const gr_progress *p)
{
    if (!gr_ok(r->ctx) || isfinite(r->last.loss))
        return;
    char before[64] = "";
    if (check_every(r) > 1)
        snprintf(before, sizeof before, " or up to %d before", CHECK_EVERY - 1);
    gr__fail(r->ctx, GR_NUMERIC, "the loss is not finite at update %lld%s (epoch %lld); try a lower learning rate",
             (long long)p->update, before, (long long)p->epoch);
}
