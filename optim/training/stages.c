/* stages.c - see stages.h. */
#include "optim/training/stages.h"

int gr__stage_count(const gr_stages *s)
{
    return s->o->n_stages > 0 ? s->o->n_stages : 1;
}

gr_batch_stage gr__stage(const gr_stages *s, int i)
{
    return s->o->n_stages > 0 ? s->o->stages[i] : s->whole;
}

bool gr__stage_begins(const gr_stages *s, int64_t epoch, gr_batch_stage *stage)
{
    for (int i = 0; i < gr__stage_count(s); i++) {
        *stage = gr__stage(s, i);
        if (stage->epoch == epoch)
            return true;
    }
    return false;
}

/*
 * Until so many samples were trained on: a short last batch is an update of few, unless it is dropped or filled up. 0
 * where an epoch has none left: of a set smaller than its batch, which no loader takes.
 */
static int64_t updates_of_samples(const gr_stages *s)
{
    const int64_t batch = s->whole.batch, full = s->samples / batch;
    const int64_t left = s->o->last == GR_DROP ? 0 : s->samples % batch;
    const int64_t per_epoch = full + (left > 0);
    const int64_t samples = full * batch + (left > 0 && s->o->last == GR_WRAP ? batch : left);
    if (samples == 0)
        return 0;
    const int64_t rest = s->o->samples % samples;
    return s->o->samples / samples * per_epoch + rest / batch + (rest % batch > 0);
}

static int64_t updates_of_epochs(const gr_stages *s)
{
    int64_t updates = 0;
    for (int i = 0; i < gr__stage_count(s); i++) {
        const gr_batch_stage now = gr__stage(s, i);
        const int64_t end = i + 1 < gr__stage_count(s) ? gr__stage(s, i + 1).epoch : s->o->epochs;
        const int64_t epochs = (end < s->o->epochs ? end : s->o->epochs) - now.epoch;
        const bool tail = s->samples % now.batch && s->o->last != GR_DROP;
        updates += (epochs > 0 ? epochs : 0) * (s->samples / now.batch + tail);
    }
    return updates;
}

int64_t gr__stages_updates(const gr_stages *s)
{
    return s->o->updates > 0 ? s->o->updates : s->o->samples > 0 ? updates_of_samples(s) : updates_of_epochs(s);
}

bool gr__stages_has_schedule(const gr_stages *s)
{
    return s->o->schedule.kind != GR_CONSTANT || s->o->schedule.warm_up > 0;
}

/* Where the batch size changes an update is told by its place in its epoch, as if all epochs were like this one. */
double gr__stages_lr(const gr_stages *s, const gr_progress *p, int64_t epochs, int64_t update)
{
    if (gr__stage_count(s) == 1)
        return gr_scheduled_lr(&s->o->schedule, s->lr, update, p->updates, p->batches);
    const int64_t place = epochs * p->batches + p->batch_in_epoch;
    return gr_scheduled_lr(&s->o->schedule, s->lr, place, s->o->epochs * p->batches, p->batches);
}
