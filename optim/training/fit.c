/*
 * fit.c - the training loop: epochs of updates, evaluation between them.
 *
 *   fit_check.c   what is refused
 *   fit_open.c    memory, planned for every shape that the run will meet
 *   fit_loader.c  batches of the size that it is time for
 *   stages.c      batch size and learning rate of every update
 *   trainer.c     what an update computes; step_graph.c has the device repeat it
 *   readings.c    what the host knows of it, and when a run has gone bad
 *   evaluate.c    validation and test sets
 *   fit_state.c   checkpoints, and going on from one
 *   fit_ranks.c   what ranks tell each other beside sums
 *   fit_time.c    where the time goes
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "amp/amp.h"
#include "core/clock.h"
#include "core/group/link.h"
#include "nn/module.h"
#include "optim/training/fit_check.h"
#include "optim/training/fit_ranks.h"
#include "optim/training/fit_state.h"

/* Whether nothing is left to train. */
static bool complete(const gr_fit_run *f)
{
    const gr_fit_options *o = f->o;
    bool by_updates = o->updates > 0 && f->p.update >= o->updates;
    bool by_epochs = o->epochs > 0 && f->result.epochs >= o->epochs;
    bool by_samples = o->samples > 0 && f->p.samples >= o->samples;
    bool by_seconds = o->seconds > 0 && f->p.seconds >= o->seconds;
    return by_updates || by_epochs || by_samples || by_seconds;
}

static bool done(const gr_fit_run *f)
{
    return complete(f) || f->result.stopped || !gr_ok(f->ctx);
}

/* Done, and the last epoch's evaluation, too. */
static bool over(const gr_fit_run *f)
{
    return done(f) && !(complete(f) && f->within && !f->result.stopped && gr_ok(f->ctx));
}

/* Tells the caller; it may ask to stop. */
static void report(gr_fit_run *f, bool epoch_end)
{
    const gr_time_use now = gr__fit_time_use(f);
    f->p.time = gr__time_since(&now, &f->before_epoch);
    f->p.epoch_end = epoch_end;
    if (f->o->report && !f->o->report(f->o->user, &f->p) && !(epoch_end && complete(f)))
        f->result.stopped = true;
}

/* The loss scale is stuck: runs a batch to find where the infinities come from, and ends the run. */
static void explain_overflow(gr_fit_run *f, const gr_batch *piece)
{
    char where[192];
    gr__trainer_find_overflow(&f->trainer, piece, where, sizeof where);
    if (!gr__fit_ranks_first(f, where, sizeof where))
        return;
    gr__fail(f->ctx, GR_NUMERIC,
             "the loss scale is stuck at %g: up to update %lld several in a row had infinities among their gradients, "
             "which first appear in %s; use a lower learning rate, bf16 or fp32",
             f->p.loss_scale, (long long)f->p.update, *where ? where : "no operation when a batch is run again");
}

/* What an epoch and the length of the run decide about an update. */
static void set_optimizer(gr_fit_run *f)
{
    gr_optimizer *opt = f->trainer.opt;
    if (gr__stages_has_schedule(&f->stages)) /* a constant rate is the caller's, who may set another meanwhile */
        opt->lr = gr__stages_lr(&f->stages, &f->p, f->result.epochs, f->p.update);
    opt->later_begun = opt->later && f->result.epochs >= f->o->freeze_epochs;
}

static void update(gr_fit_run *f, gr_batch *piece)
{
    double begin = gr__seconds();
    if (f->readings.stuck) {
        explain_overflow(f, piece);
        return;
    }
    set_optimizer(f);
    f->trainer.meter.noise.last = (gr_noise_scale){NAN, NAN, NAN};
    f->p.samples += gr__trainer_update(&f->trainer, piece);
    f->p.update_noise = f->trainer.meter.noise.last;
    f->p.update++;
    f->p.batch_in_epoch++;
    f->p.fresh = false;
    if (gr__reading_due(&f->readings, &f->p))
        gr__readings_read(&f->readings, &f->p);
    f->p.seconds += gr__seconds() - begin;
    if (gr__check_due(&f->readings, &f->p))
        gr__readings_check(&f->readings, &f->p);
    if (gr_ok(f->ctx))
        report(f, false);
    gr__fit_ranks_stop(f);
    gr__fit_state_keep(f);
}

/* False: recorded. */
static bool begin_epoch(gr_fit_run *f)
{
    gr_batch_stage stage;
    const bool begins = gr__stage_begins(&f->stages, f->p.epoch, &stage);
    if (begins && f->p.epoch > 0 && !gr__fit_open_loader(f, stage, 0)) /* the first one's is open */
        return false;
    f->p.epoch++;
    f->p.batch_in_epoch = 0;
    f->epoch_begin = f->readings.last;
    f->before_epoch = gr__fit_time_use(f);
    f->within = 1;
    return true;
}

/* One epoch, or what is left of it or of the updates. */
static void epoch(gr_fit_run *f)
{
    gr_batch piece;
    if (!f->within && !begin_epoch(f))
        return;
    while (!done(f)) {
        double begin = gr__seconds();
        if (!gr_loader_next(f->trainer.loader, &piece))
            break;
        f->p.seconds += gr__seconds() - begin;
        update(f, &piece);
    }
    bool whole = f->p.batch_in_epoch == f->p.batches;
    f->result.epochs += whole;
}

/* With the averages of the weights, where they are kept. False: the caller wants the run to end before it is done. */
static bool evaluate(gr_fit_run *f)
{
    gr_optimizer *averages = f->trainer.opt->ema > 0 ? f->trainer.opt : NULL;
    const double begin = gr__seconds();
    gr_ema_swap(averages);
    f->p.val = f->result.val = gr__evaluator_run(&f->val);
    if (!f->val.stopped && (f->o->test_each_epoch || done(f)))
        f->p.test = f->result.test = gr__evaluator_run(&f->test);
    gr_ema_swap(averages);
    f->evaluating += gr__seconds() - begin;
    return !f->val.stopped && !f->test.stopped;
}

/* A loss is taken before its update: what the last ones did to the weights shows here alone. False: recorded. */
static bool check_evaluated(gr_fit_run *f, const char *of, gr_metrics *result)
{
    if (result->samples == 0 || isfinite(result->loss) || !gr_ok(f->ctx))
        return gr_ok(f->ctx);
    *result = (gr_metrics){NAN, NAN, NAN, NAN, NAN, .samples = 0}; /* answers of such a network say nothing */
    return gr__fail(f->ctx, GR_NUMERIC,
                    "the loss of the %s set is not finite behind update %lld (epoch %lld); try a lower learning rate",
                    of, (long long)f->p.update, (long long)f->p.epoch);
}

/* Whether all weights are finite, in pieces: no memory for a copy was planned. False: one is not, or recorded. */
static bool is_finite(gr_context *ctx, const gr_tensor *w)
{
    union {
        float f32[4096];
        double f64[2048];
    } piece;
    const int64_t size = (int64_t)gr_type_size(w->type), most = (int64_t)sizeof piece / size;
    for (int64_t at = 0; at < w->count; at += most) {
        const int64_t n = w->count - at < most ? w->count - at : most;
        if (!ctx->device->download(ctx->device, &piece, (const char *)w->data + at * size, (size_t)(n * size)))
            return gr__device_failed(ctx, "weights were copied from it");
        for (int64_t i = 0; i < n; i++)
            if (!isfinite(w->type == GR_F64 ? piece.f64[i] : piece.f32[i]))
                return false;
    }
    return true;
}

/* At the end of a run in which nothing is evaluated: the weights themselves. False: recorded. */
static bool check_weights(gr_fit_run *f)
{
    const gr_slab *slab = f->trainer.net->parameters->slab; /* NULL: the model has none */
    if (!slab || !complete(f) || f->result.val.samples || f->result.test.samples || !gr_ok(f->ctx))
        return gr_ok(f->ctx);
    if (!is_finite(f->ctx, slab->values) && gr_ok(f->ctx))
        gr__fail(f->ctx, GR_NUMERIC,
                 "weights are not finite behind update %lld (epoch %lld); try a lower learning rate",
                 (long long)f->p.update, (long long)f->p.epoch);
    return gr_ok(f->ctx);
}

static void finish_epoch(gr_fit_run *f)
{
    if (f->readings.last.samples < f->p.samples) { /* stopped within the epoch */
        gr__readings_read(&f->readings, &f->p);
        gr__readings_check(&f->readings, &f->p);
    }
    gr__reading_means(&f->epoch_begin, &f->readings.last, &f->p.loss, &f->p.accuracy);
    f->p.fresh = true;
    f->result.train_loss = f->p.loss;
    f->result.train_accuracy = f->p.accuracy;
    f->p.noise = gr_noise_read(&f->trainer.meter.noise);
    if (f->o->sharpness > 0)
        f->p.sharp = gr_measure_sharpness(f->trainer.net, f->set,
                                          &(gr_sharpness_options){.epsilon = f->o->sharpness,
                                                                  .batch = gr_loader_micro_batch(f->trainer.loader),
                                                                  .loss = f->o->loss,
                                                                  .user = f->o->user,
                                                                  .label_smoothing = f->o->label_smoothing});
    const bool evaluated = gr__fit_ranks_all(f, evaluate(f));
    f->within = !evaluated;
    if (!evaluated)
        f->result.stopped = true;
    else if (check_evaluated(f, "validation", &f->result.val) && check_evaluated(f, "test", &f->result.test) &&
             check_weights(f))
        report(f, true);
    gr__fit_ranks_stop(f);
    gr__fit_state_keep(f);
}

/* Makes the context own a matrix that would go with its evaluator. */
static void copy_confusion(const gr_fit_run *f, gr_metrics *m)
{
    size_t bytes = (size_t)m->classes * (size_t)m->classes * sizeof(double);
    double *copy = m->confusion ? gr__calloc(f->ctx, 1, bytes) : NULL;
    if (copy)
        memcpy(copy, m->confusion, bytes);
    m->confusion = copy && gr__own(f->ctx, copy, free) ? copy : NULL;
}

/* Completes the result and closes what open has opened. */
static void close_run(gr_fit_run *f)
{
    if (f->left)
        gr__reading_means(&f->epoch_begin, &f->readings.last, &f->result.train_loss, &f->result.train_accuracy);
    f->result.updates = f->p.update;
    f->result.loss_scale = f->p.loss_scale;
    f->result.skipped = f->p.skipped;
    f->result.samples = f->p.samples;
    f->result.seconds = f->p.seconds;
    f->result.time = gr__fit_time_use(f);
    f->result.workers = gr_loader_workers(f->trainer.loader);
    f->result.prefetch = f->result.workers ? gr_loader_prefetch(f->trainer.loader) : 0;
    copy_confusion(f, &f->result.val);
    copy_confusion(f, &f->result.test);
    gr__freeze_later(f->trainer.opt, NULL);
    gr__group_disconnect(f->o->group);
    gr__step_graphs_close(&f->trainer.graphs, f->ctx);
    gr__shard_sum_close(&f->trainer.sum);
    gr__meeting_close(&f->trainer.meeting);
    gr_loader_close(f->trainer.loader);
    gr__evaluator_close(&f->val);
    gr__evaluator_close(&f->test);
    gr__readings_close(&f->readings);
    gr__fit_state_close(f);
}

gr_fit_result gr_fit(gr_module *net, gr_optimizer *opt, gr_split split, const gr_fit_options *options)
{
    gr_fit_run f = {.o = options};
    f.result.train_loss = f.result.train_accuracy = NAN;
    if (!gr__fit_check(net, opt, &split, options))
        return f.result;
    const int shards = options->shards ? options->shards : 1, own = shards / gr_group_size(options->group),
              first = own * gr_group_rank(options->group);
    f.ctx = net->ctx;
    f.set = split.train;
    f.stages =
        (gr_stages){.o = options, .samples = gr_dataset_size(split.train), .lr = opt->lr, .whole = {0, options->batch}};
    f.trainer = (gr_trainer){.ctx = f.ctx,
                             .net = net,
                             .opt = opt,
                             .no_graph = options->no_graph,
                             .loss = {options->loss, options->user, options->label_smoothing},
                             .meter.on = options->noise_scale,
                             .sum = {.group = options->group, .shards = shards, .first = first, .end = first + own},
                             .meeting.group = options->synchronised ? options->group : NULL};
    if (gr__fit_open(&f, &split) && !f.ctx->options.plan_only && gr__fit_ranks_agree(&f) &&
        gr__group_connect(options->group, f.ctx) && gr__fit_state_resume(&f))
        while (!over(&f)) {
            epoch(&f);
            if (!f.left)
                finish_epoch(&f);
        }
    if (gr__stages_has_schedule(&f.stages))
        opt->lr = f.stages.lr;
    gr__shard_sum_rest(&f.trainer.sum);
    gr__fit_ranks_end(&f);
    close_run(&f);
    return f.result;
}
