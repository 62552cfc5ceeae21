/* fit_plan.c - what is known before the first update: batch sizes, learning rates, memory. */
#include "optim/training/fit.h"

const gr_batch_stage *gr__fit_stage_beginning(const gr_fit_run *f, int64_t epoch)
{
    for (int i = 0; i < f->n_stages; i++)
        if (f->stages[i].epoch == epoch)
            return &f->stages[i];
    return NULL;
}

bool gr__fit_open_train(gr_fit_run *f, const gr_batch_stage *stage)
{
    gr__time_add(&f->earlier, f->train, false);
    gr_loader_close(f->train);
    f->train = gr_loader_open(f->set, &(gr_loader_options){.batch = stage->batch,
                                                           .micro_batch = f->o->micro_batch,
                                                           .shuffle = !f->o->no_shuffle,
                                                           .last = f->o->last,
                                                           .epoch = stage->epoch,
                                                           .workers = f->o->workers,
                                                           .prefetch = f->o->prefetch,
                                                           .on_device = f->o->on_device});
    f->p.batch = stage->batch;
    f->p.batches = gr_loader_batches(f->train);
    return f->train != NULL;
}

int64_t gr__fit_updates(const gr_fit_run *f)
{
    const int64_t n = gr_dataset_size(f->set);
    int64_t updates = 0;
    for (int i = 0; i < f->n_stages; i++) {
        const int64_t batch = f->stages[i].batch, end = i + 1 < f->n_stages ? f->stages[i + 1].epoch : f->o->epochs;
        const int64_t epochs = (end < f->o->epochs ? end : f->o->epochs) - f->stages[i].epoch;
        updates += (epochs > 0 ? epochs : 0) * (n / batch + (n % batch && f->o->last != GR_DROP));
    }
    return updates;
}

bool gr__fit_has_schedule(const gr_fit_run *f)
{
    return f->o->schedule.kind != GR_CONSTANT || f->o->schedule.warm_up > 0;
}

/* Where the batch size changes an update is told by its place in its epoch, as if all epochs were like this one. */
double gr__fit_lr(const gr_fit_run *f, int64_t update)
{
    if (f->n_stages == 1)
        return gr_scheduled_lr(&f->o->schedule, f->lr, update, f->p.updates, f->p.batches);
    const int64_t place = f->result.epochs * f->p.batches + f->p.batch_in_epoch;
    return gr_scheduled_lr(&f->o->schedule, f->lr, place, f->o->epochs * f->p.batches, f->p.batches);
}

/* Dry-runs all passes of an update whose only piece, or one of whose pieces, has n rows. */
static bool plan_piece(gr_fit_run *f, int64_t n, bool whole)
{
    for (int pass = 0; pass < gr_optimizer_passes(f->opt); pass++) {
        gr_batch piece;
        gr_plan_begin(f->ctx);
        if (gr_loader_dry(f->train, n, &piece)) {
            piece.last = whole;
            gr__fit_step(f, &piece, pass == 0);
        }
        if (!whole)
            gr_optimizer_step(f->opt);
        if (gr_plan_end(f->ctx) < 0)
            return false;
    }
    return true;
}

/* Dry-runs an update of n rows. */
static bool plan_update(gr_fit_run *f, int64_t n)
{
    const int64_t micro = gr_loader_micro_batch(f->train);
    if (n <= micro)
        return plan_piece(f, n, true);
    return plan_piece(f, micro, false) && (n % micro == 0 || plan_piece(f, n % micro, false));
}

/* The shapes of one batch size: full batches, the short last one. */
static bool plan_batch(gr_fit_run *f, int64_t batch)
{
    int64_t tail = f->o->last == GR_KEEP ? gr_dataset_size(f->set) % batch : 0;
    return plan_update(f, batch) && (tail == 0 || plan_update(f, tail));
}

bool gr__fit_plan(gr_fit_run *f)
{
    for (int i = f->n_stages - 1; i >= 0; i--)
        if (!gr__fit_open_train(f, &f->stages[i]) || !plan_batch(f, f->stages[i].batch))
            return false;
    bool fits = f->o->sharpness <= 0 || plan_piece(f, gr_loader_micro_batch(f->train), false);
    return fits && gr__evaluator_plan(&f->val) && gr__evaluator_plan(&f->test);
}
