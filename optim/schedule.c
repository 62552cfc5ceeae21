/* schedule.c - the learning rate as a function of the update. */
#include <math.h>

#include "optim/optim.h"

double gr_scheduled_lr(const gr_schedule *s, double lr, int64_t update, int64_t updates, int64_t per_epoch)
{
    if (s->kind == GR_COSINE)
        return s->lr_min + (lr - s->lr_min) * (1 + cos(acos(-1.0) * (double)update / (double)updates)) / 2;
    if (s->kind == GR_STEPS) {
        const int64_t every = s->every > 0 ? s->every : 30;
        return lr * pow(s->gamma > 0 ? s->gamma : 0.1, (double)(update / (every * per_epoch)));
    }
    return lr;
}
