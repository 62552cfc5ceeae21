/* fit_open.c - a run of gr_fit before its first update: memory is planned, and what it reads and evaluates is open. */
#include <math.h>

#include "amp/amp.h"
#include "optim/lookahead.h"
#include "optim/training/fit_check.h"
#include "optim/training/fit_state.h"

/* The shapes of one batch size: full batches, the short last one. */
static bool plan_stage(gr_fit_run *f, gr_batch_stage stage)
{
    const int64_t tail = f->o->last == GR_KEEP ? gr_dataset_size(f->set) % stage.batch : 0;
    return gr__fit_open_loader(f, stage, 0) && gr__trainer_plan(&f->trainer, stage.batch) &&
           (tail == 0 || gr__trainer_plan(&f->trainer, tail));
}

/*
 * Every shape that the run will meet, before the first update: those of each batch size, then evaluation. Running out
 * of memory is known here or not at all. Leaves the first stage's loader open. False: recorded.
 */
static bool plan(gr_fit_run *f)
{
    for (int i = gr__stage_count(&f->stages) - 1; i >= 0; i--)
        if (!plan_stage(f, gr__stage(&f->stages, i)))
            return false;
    bool fits =
        f->o->sharpness <= 0 || gr__trainer_plan_piece(&f->trainer, gr_loader_micro_batch(f->trainer.loader), false);
    return fits && gr__evaluator_plan(&f->val) && gr__evaluator_plan(&f->test);
}

/* Evaluation sets, in batches that memory holds anyway. False: recorded. */
static bool open_evaluators(gr_fit_run *f, const gr_split *split)
{
    const int64_t batch = gr__stage(&f->stages, 0).batch,
                  micro = f->o->micro_batch > 0 && f->o->micro_batch < batch ? f->o->micro_batch : batch;
    const gr_loader_options options = {
        .batch = f->o->eval_batch > 0 ? f->o->eval_batch : micro, .workers = f->o->workers, .prefetch = f->o->prefetch};
    if (!gr__evaluator_open(&f->val, f->trainer.net, split->val, &options) ||
        !gr__evaluator_open(&f->test, f->trainer.net, split->test, &options))
        return false;
    f->val.loss = f->test.loss = f->trainer.loss;
    f->val.stop = f->test.stop = f->o->stop;
    f->val.user = f->test.user = f->o->user;
    return true;
}

/* What the optimizer is to know of the run. False: recorded. */
static bool tell_optimizer(gr_fit_run *f)
{
    gr_optimizer *opt = f->trainer.opt;
    const int64_t updates = gr__stages_updates(&f->stages);
    if (opt->lookahead.updates == 0) {
        opt->lookahead_start = opt->updates; /* not 0 behind another run with this optimizer */
        opt->lookahead_end = updates > 0 ? opt->updates + updates : 0;
    }
    return gr__freeze_later(opt, f->o->freeze_later);
}

bool gr__fit_open(gr_fit_run *f, const gr_split *split)
{
    f->p = (gr_progress){.epochs = f->o->epochs,
                         .loss = NAN,
                         .accuracy = NAN,
                         .noise = {NAN, NAN, NAN},
                         .update_noise = {NAN, NAN, NAN},
                         .sharp = {NAN, NAN, NAN}};
    f->p.loss_scale = gr_loss_scaling(f->ctx).scale;
    if (!tell_optimizer(f) || !gr__fit_state_open(f) || !open_evaluators(f, split) ||
        !gr__readings_open(&f->readings, f->ctx, f->o))
        return false;
    f->trainer.total = f->readings.score.total;
    if (!plan(f) || !gr__lookahead_check(f->trainer.opt) ||
        (f->o->noise_scale && !gr__fit_check_noise(f->trainer.net, f->trainer.loader)))
        return false;
    f->p.updates = gr__stages_updates(&f->stages);
    const int64_t last = f->p.updates > 0 ? f->p.updates - 1 : 0;
    return isfinite(gr__stages_lr(&f->stages, &f->p, 0, last)) || /* the largest of a growing schedule */
           gr__fail(f->ctx, GR_USAGE,
                    "gr_fit: gamma %g lets the learning rate grow beyond all numbers; it is usually below 1",
                    f->o->schedule.gamma);
}
