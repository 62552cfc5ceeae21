/* schedule.c - the learning rate as a function of the update, and of the batch size. */
#include <math.h>

#include "core/zero.h"
#include "optim/optim.h"

/* The part of a schedule behind its warm-up; update, of so many, counts from there. */
static double after_warm_up(const gr_schedule *s, double lr, double update, double updates, double per_epoch)
{
    const double span = lr - s->lr_min;
    switch (s->kind) {
    case GR_COSINE:
        return s->lr_min + span * (1 + cos(acos(-1.0) * update / updates)) / 2;
    case GR_LINEAR:
        return s->lr_min + span * (1 - update / updates);
    case GR_STEPS:
        return lr * pow(gr__or(s->gamma, 0.1), floor(update / ((double)(s->every > 0 ? s->every : 30) * per_epoch)));
    case GR_TRIANGULAR: {
        const double half = (double)(s->every > 0 ? s->every : 2) * per_epoch, place = fmod(update, 2 * half);
        return s->lr_min + span * (1 - fabs(place / half - 1));
    }
    default:
        return lr;
    }
}

double gr_scheduled_lr(const gr_schedule *s, double lr, int64_t update, int64_t updates, int64_t per_epoch)
{
    const int64_t warm = llround(s->warm_up * (double)per_epoch);
    if (update < warm)
        return s->warm_up_from > 0
                   ? lr * (s->warm_up_from + (1 - s->warm_up_from) * (double)(update + 1) / (double)warm)
                   : lr * (double)(update + 1) / (double)warm;
    return after_warm_up(s, lr, (double)(update - warm), (double)(updates - warm), (double)per_epoch);
}

double gr_lr_for_batch(gr_lr_rule rule, double lr, int64_t batch, int64_t base_batch)
{
    const double ratio = (double)batch / (double)base_batch;
    return lr * (rule == GR_LR_LINEAR ? ratio : rule == GR_LR_SQRT ? sqrt(ratio) : 1);
}
