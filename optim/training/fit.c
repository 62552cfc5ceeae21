/* fit.c - the training loop: epochs of updates, evaluation between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "amp/amp.h"
#include "optim/training/fit.h"

static bool done(const gr_fit_run *f)
{
    bool by_updates = f->o->updates > 0 && f->p.update >= f->o->updates;
    bool by_epochs = f->o->epochs > 0 && f->result.epochs >= f->o->epochs;
    return by_updates || by_epochs || f->result.stopped || !gr_ok(f->ctx);
}

/* Where the time of the run has gone so far. */
static gr_time_use time_use(const gr_fit_run *f)
{
    gr_time_use t = f->earlier;
    t.compute += f->p.seconds;
    t.evaluate += f->evaluating;
    gr__time_add(&t, f->train, false);
    gr__time_add(&t, f->val.loader, true);
    gr__time_add(&t, f->test.loader, true);
    return t;
}

/* Tells the caller; it may ask to stop. */
static void report(gr_fit_run *f, bool epoch_end)
{
    const gr_time_use now = time_use(f);
    f->p.time = gr__time_since(&now, &f->before_epoch);
    f->p.epoch_end = epoch_end;
    if (f->o->report && !f->o->report(f->o->user, &f->p))
        f->result.stopped = true;
}

static void update(gr_fit_run *f, gr_batch *piece)
{
    double begin = gr__seconds();
    if (f->stuck) {
        gr__fit_explain_overflow(f, piece);
        return;
    }
    if (gr__fit_has_schedule(f)) /* a constant rate is the caller's, who may set another between two updates */
        f->opt->lr = gr__fit_lr(f, f->p.update);
    f->p.samples += gr__fit_train(f, piece);
    f->p.update++;
    f->p.batch_in_epoch++;
    f->p.fresh = false;
    if (gr__fit_reading_due(f))
        gr__fit_read_score(f);
    f->p.seconds += gr__seconds() - begin;
    if (gr__fit_check_due(f))
        gr__fit_check_loss(f);
    if (gr_ok(f->ctx))
        report(f, false);
}

/* One epoch, or what is left of the updates. */
static void epoch(gr_fit_run *f)
{
    const gr_batch_stage *stage = gr__fit_stage_beginning(f, f->p.epoch);
    if (stage && f->p.epoch > 0 && !gr__fit_open_train(f, stage)) /* the first one's is open */
        return;
    f->p.epoch++;
    f->p.batch_in_epoch = 0;
    f->epoch_begin = f->last;
    f->before_epoch = time_use(f);
    gr_batch piece;
    while (!done(f)) {
        double begin = gr__seconds();
        if (!gr_loader_next(f->train, &piece))
            break;
        f->p.seconds += gr__seconds() - begin;
        update(f, &piece);
    }
    bool whole = f->p.batch_in_epoch == f->p.batches;
    f->result.epochs += whole;
}

static void finish_epoch(gr_fit_run *f)
{
    if (f->last.samples < f->p.samples) { /* stopped within the epoch */
        gr__fit_read_score(f);
        gr__fit_check_loss(f);
    }
    gr__fit_means(&f->epoch_begin, &f->last, &f->p.loss, &f->p.accuracy);
    f->p.fresh = true;
    f->result.train_loss = f->p.loss;
    f->result.train_accuracy = f->p.accuracy;
    f->p.noise = gr_noise_read(&f->noise);
    if (f->o->sharpness > 0)
        f->p.sharp = gr_measure_sharpness(
            f->net, f->set,
            &(gr_sharpness_options){.epsilon = f->o->sharpness, .batch = gr_loader_micro_batch(f->train)});
    const double begin = gr__seconds();
    f->p.val = f->result.val = gr__evaluator_run(&f->val);
    if (f->o->test_each_epoch || done(f))
        f->p.test = f->result.test = gr__evaluator_run(&f->test);
    f->evaluating += gr__seconds() - begin;
    if (gr_ok(f->ctx))
        report(f, true);
}

/* Plans, and opens what the first epoch needs; false: recorded. */
static bool open(gr_fit_run *f, const gr_split *split)
{
    f->p = (gr_progress){
        .epochs = f->o->epochs, .loss = NAN, .accuracy = NAN, .noise = {NAN, NAN, NAN}, .sharp = {NAN, NAN, NAN}};
    f->p.loss_scale = gr_loss_scaling(f->ctx).scale;
    f->whole = (gr_batch_stage){0, f->o->batch};
    f->stages = f->o->n_stages > 0 ? f->o->stages : &f->whole;
    f->n_stages = f->o->n_stages > 0 ? f->o->n_stages : 1;
    const int64_t batch = f->stages[0].batch,
                  micro = f->o->micro_batch > 0 && f->o->micro_batch < batch ? f->o->micro_batch : batch;
    const gr_loader_options evaluation = {
        .batch = f->o->eval_batch > 0 ? f->o->eval_batch : micro, .workers = f->o->workers, .prefetch = f->o->prefetch};
    if (!gr__evaluator_open(&f->val, f->net, split->val, &evaluation) ||
        !gr__evaluator_open(&f->test, f->net, split->test, &evaluation) ||
        !gr__score_open(f->ctx, &f->score, f->ctx->scaler ? 2 : 1) || !gr__fit_plan(f))
        return false;
    if (f->o->noise_scale && !gr__fit_check_noise(f))
        return false;
    f->p.updates = f->o->updates > 0 ? f->o->updates : gr__fit_updates(f);
    return isfinite(gr__fit_lr(f, f->p.updates - 1)) || /* the largest rate of a growing schedule */
           gr__fail(f->ctx, GR_USAGE,
                    "gr_fit: gamma %g lets the learning rate grow beyond all numbers; it is usually below 1",
                    f->o->schedule.gamma);
}

/* Gives a matrix that would go with its evaluator to the context. */
static void keep(const gr_fit_run *f, gr_metrics *m)
{
    size_t bytes = (size_t)m->classes * (size_t)m->classes * sizeof(double);
    double *copy = m->confusion ? gr__calloc(f->ctx, 1, bytes) : NULL;
    if (copy)
        memcpy(copy, m->confusion, bytes);
    m->confusion = copy && gr__own(f->ctx, copy, free) ? copy : NULL;
}

/* Completes the result and closes what open has opened. */
static void finish(gr_fit_run *f)
{
    f->result.updates = f->p.update;
    f->result.loss_scale = f->p.loss_scale;
    f->result.skipped = f->p.skipped;
    f->result.samples = f->p.samples;
    f->result.seconds = f->p.seconds;
    f->result.time = time_use(f);
    f->result.workers = gr_loader_workers(f->train);
    f->result.prefetch = f->result.workers ? gr_loader_prefetch(f->train) : 0;
    keep(f, &f->result.val);
    keep(f, &f->result.test);
    gr__step_graphs_close(&f->graphs, f->ctx);
    gr_loader_close(f->train);
    gr__evaluator_close(&f->val);
    gr__evaluator_close(&f->test);
    gr__score_close(f->ctx, &f->score);
}

gr_fit_result gr_fit(gr_module *net, gr_optimizer *opt, gr_split split, const gr_fit_options *options)
{
    gr_fit_run f = {.net = net, .opt = opt, .o = options};
    f.result.train_loss = f.result.train_accuracy = NAN;
    if (!net || !opt || !split.train || !options || !gr__fit_check(net->ctx, options))
        return f.result;
    f.ctx = net->ctx;
    f.set = split.train;
    f.lr = opt->lr;
    f.skipped = gr_loss_scaling(f.ctx).skipped;
    if (open(&f, &split))
        while (!done(&f)) {
            epoch(&f);
            finish_epoch(&f);
        }
    if (gr__fit_has_schedule(&f))
        opt->lr = f.lr;
    finish(&f);
    return f.result;
}
