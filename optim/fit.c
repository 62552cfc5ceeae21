/* fit.c - the training loop: plan the memory, then epochs of updates, evaluation between them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "amp/amp.h"
#include "amp/overflow.h"
#include "nn/module.h"
#include "optim/evaluate.h"
#include "optim/optimizer.h"
#include "optim/score.h"
#include "optim/time_use.h"
#include "optim/step_graph.h"

/* Where the sums of training stood, and how many samples had gone into them: into that of losses those whose loss is a number. */
typedef struct {
    double loss, correct, with_loss;
    int64_t samples;
} reading;

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    const gr_fit_options *o;
    gr_dataset *set; /* to train on */
    gr_batch_stage whole; /* the only stage, where the options name none */
    const gr_batch_stage *stages;
    int n_stages;
    gr_loader *train;
    gr_evaluator val, test;
    gr_score score;           /* of training: the loss, right answers */
    gr_step_graphs graphs;
    reading epoch_begin, last;
    double last_seconds; /* when last was read, on a monotonic clock */
    double evaluating;   /* seconds */
    gr_time_use earlier, before_epoch; /* what loaders that are closed had measured; all, when the epoch began */
    gr_progress p;
    gr_fit_result result;
    double lr; /* the optimizer's own, where the schedule starts */
    gr_noise noise;
    double first_norm, first_samples; /* of the first piece of the batch under way */
    int64_t skipped; /* updates that had been skipped before the run */
    bool stuck;      /* the loss scale is: the next update is only looked at */
} fit_run;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool done(const fit_run *f)
{
    bool by_updates = f->o->updates > 0 && f->p.update >= f->o->updates;
    bool by_epochs = f->o->epochs > 0 && f->result.epochs >= f->o->epochs;
    return by_updates || by_epochs || f->result.stopped || !gr_ok(f->ctx);
}

/* Where the time of the run has gone so far. */
static gr_time_use time_use(const fit_run *f)
{
    gr_time_use t = f->earlier;
    t.compute += f->p.seconds;
    t.evaluate += f->evaluating;
    gr__time_add(&t, f->train, false);
    gr__time_add(&t, f->val.loader, true);
    gr__time_add(&t, f->test.loader, true);
    return t;
}

/* --- batch sizes --------------------------------------------------------------------------------------------------- */

/* The stage that an epoch, from 0, belongs to. */
static int stage_at(const fit_run *f, int64_t epoch)
{
    int i = 0;
    while (i + 1 < f->n_stages && f->stages[i + 1].epoch <= epoch)
        i++;
    return i;
}

/* The loader of a stage in place of the one before. False: recorded. */
static bool open_train(fit_run *f, const gr_batch_stage *stage)
{
    gr__time_add(&f->earlier, f->train, false);
    gr_loader_close(f->train);
    f->train = gr_loader_open(f->set, &(gr_loader_options){.batch = stage->batch, .micro_batch = f->o->micro_batch,
                                                            .shuffle = !f->o->no_shuffle, .last = f->o->last,
                                                            .epoch = stage->epoch, .workers = f->o->workers,
                                                            .prefetch = f->o->prefetch, .on_device = f->o->on_device});
    f->p.batch = stage->batch;
    f->p.batches = gr_loader_batches(f->train);
    return f->train != NULL;
}

/* Updates of the whole run, by epochs. */
static int64_t updates_of(const fit_run *f)
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

/* --- memory plan --------------------------------------------------------------------------------------------------- */

/*
 * The gradient's norm behind the first piece and behind the last. Losses are divided by the whole batch's weight, so that the first
 * piece's own gradient is larger by the ratio of the two.
 */
static bool measure_noise(fit_run *f, const gr_batch *piece)
{
    if (!piece->first && !piece->last)
        return true;
    gr_tensor *norm = gr__gradient_norm(f->opt);
    if (f->ctx->planning || !norm)
        return norm;
    const double weight = 1 / f->ctx->state.inv_weight, value = gr_item(norm);
    if (piece->first) {
        f->first_samples = (double)piece->samples;
        f->first_norm = value * weight / f->first_samples;
    } else {
        gr_noise_add(&f->noise, f->first_norm, f->first_samples, value, weight);
    }
    return true;
}

/*
 * One pass over a piece of a batch, and the optimizer's step behind the last one. Losses are shares of the whole batch's, so
 * that gradients and sums of the pieces add up; the penalty belongs to the batch once.
 */
static bool step(fit_run *f, const gr_batch *piece, bool first_pass)
{
    gr_tensor *z = gr_forward(f->net, piece->x), *loss = gr_loss(z, piece);
    if (piece->first)
        loss = gr_add_penalty(f->net, loss);
    if (first_pass && !gr_tally(f->score.total, loss, gr_accuracy(z, piece->y, piece->weight),
                                &(gr_tally_args){.finite = f->ctx->scaled}))
        return false;
    if (piece->first && piece->last)
        return gr_minimize(f->opt, loss);
    bool good = gr_backward(loss) && (!f->o->noise_scale || !first_pass || measure_noise(f, piece));
    return good && (!piece->last || gr_optimizer_step(f->opt));
}

/* Dry-runs all passes of an update whose only piece, or one of whose pieces, has n rows. */
static bool plan_piece(fit_run *f, int64_t n, bool whole)
{
    for (int pass = 0; pass < gr_optimizer_passes(f->opt); pass++) {
        gr_batch piece;
        gr_plan_begin(f->ctx);
        if (gr_loader_dry(f->train, n, &piece)) {
            piece.last = whole;
            step(f, &piece, pass == 0);
        }
        if (!whole)
            gr_optimizer_step(f->opt);
        if (gr_plan_end(f->ctx) < 0)
            return false;
    }
    return true;
}

/* Dry-runs an update of n rows. */
static bool plan_update(fit_run *f, int64_t n)
{
    const int64_t micro = gr_loader_micro_batch(f->train);
    if (n <= micro)
        return plan_piece(f, n, true);
    return plan_piece(f, micro, false) && (n % micro == 0 || plan_piece(f, n % micro, false));
}

/* The shapes of one batch size: full batches, the short last one. */
static bool plan_batch(fit_run *f, int64_t batch)
{
    int64_t tail = f->o->last == GR_KEEP ? gr_dataset_size(f->set) % batch : 0;
    return plan_update(f, batch) && (tail == 0 || plan_update(f, tail));
}

/*
 * Every shape that the run will meet, before the first update: those of each batch size, then evaluation. Running out of memory
 * is known here or not at all. Leaves the first stage's loader open.
 */
static bool plan(fit_run *f)
{
    for (int i = f->n_stages - 1; i >= 0; i--)
        if (!open_train(f, &f->stages[i]) || !plan_batch(f, f->stages[i].batch))
            return false;
    bool fits = f->o->sharpness <= 0 || plan_piece(f, gr_loader_micro_batch(f->train), false);
    return fits && gr__evaluator_plan(&f->val) && gr__evaluator_plan(&f->test);
}

/* --- training ------------------------------------------------------------------------------------------------------ */

/* Tells the caller; it may ask to stop. */
static void report(fit_run *f, bool epoch_end)
{
    const gr_time_use now = time_use(f);
    f->p.time = gr__time_since(&now, &f->before_epoch);
    f->p.epoch_end = epoch_end;
    if (f->o->report && !f->o->report(f->o->user, &f->p))
        f->result.stopped = true;
}

static bool has_schedule(const gr_fit_options *o)
{
    return o->schedule.kind != GR_CONSTANT || o->schedule.warm_up > 0;
}

/*
 * May be 0: a step schedule falls below the smallest number at last, and then nothing moves any more. Where the batch size changes
 * an update is told by its place in its epoch, as if all epochs were like this one.
 */
static double scheduled_lr(const fit_run *f, int64_t update)
{
    if (f->n_stages == 1)
        return gr_scheduled_lr(&f->o->schedule, f->lr, update, f->p.updates, f->p.batches);
    const int64_t place = f->result.epochs * f->p.batches + f->p.batch_in_epoch;
    return gr_scheduled_lr(&f->o->schedule, f->lr, place, f->o->epochs * f->p.batches, f->p.batches);
}

/* --- reading what the device has summed --------------------------------------------------------------------------- */

enum { CHECK_EVERY = 64 }; /* updates after which a loss gone bad is found at the latest */

/* Updates between two looks at whether the loss is finite: fixed, so that no display decides where a run ends. */
static int64_t check_every(const fit_run *f)
{
    return f->ctx->device->wait ? CHECK_EVERY : 1;
}

static bool check_due(const fit_run *f)
{
    return f->p.update % check_every(f) == 0 || f->p.batch_in_epoch == f->p.batches;
}

static bool reading_due(const fit_run *f)
{
    const gr_fit_options *o = f->o;
    return check_due(f) || (o->metrics_every > 0 && f->p.update % o->metrics_every == 0) ||
           (o->watch_every > 0 && (f->p.update == 1 || seconds() - f->last_seconds >= o->watch_every));
}

/* Means over the samples between two readings. */
static void means(const reading *from, const reading *to, double *loss, double *accuracy)
{
    double n = to->samples > from->samples ? (double)(to->samples - from->samples) : NAN;
    *loss = (to->loss - from->loss) / (to->with_loss > from->with_loss ? to->with_loss - from->with_loss : NAN);
    *accuracy = (to->correct - from->correct) / n;
}

/* What has become of the loss scale. */
static void read_scale(fit_run *f)
{
    const gr_scaling s = gr_loss_scaling(f->ctx);
    f->p.loss_scale = s.scale;
    f->p.skipped = s.skipped - f->skipped;
    f->stuck = s.stuck;
}

/* Waits for the device and tells how training went since the last reading. */
static void read_score(fit_run *f)
{
    if (!gr__score_read(&f->score))
        return;
    const double with_loss = f->ctx->scaled ? f->score.sums[2] : (double)f->p.samples;
    const reading now = {f->score.sums[0], f->score.sums[1], with_loss, f->p.samples};
    means(&f->last, &now, &f->p.loss, &f->p.accuracy);
    f->last = now;
    f->last_seconds = seconds();
    f->p.fresh = true;
    read_scale(f);
}

/* Where the sum that was read is not finite the run is over: a sum never becomes finite again. */
static void check_loss(fit_run *f)
{
    if (!gr_ok(f->ctx) || isfinite(f->last.loss))
        return;
    char before[64] = "";
    if (check_every(f) > 1)
        snprintf(before, sizeof before, " or up to %d before", CHECK_EVERY - 1);
    gr__fail(f->ctx, GR_NUMERIC, "the loss is not finite at update %lld%s (epoch %lld); try a lower learning rate",
             (long long)f->p.update, before, (long long)f->p.epoch);
}

/* The scale is stuck: runs a batch to find where the infinities come from. */
static void explain_overflow(fit_run *f, const gr_batch *batch)
{
    gr_overflow_watch watch;
    gr__overflow_watch_begin(f->ctx, &watch);
    gr_backward(gr_add_penalty(f->net, gr_loss(gr_forward(f->net, batch->x), batch)));
    gr__overflow_watch_end(f->ctx);
    gr__fail(f->ctx, GR_NUMERIC,
             "the loss scale is stuck at %g: up to update %lld several in a row had infinities among their gradients, which first "
             "appear in %s; use a lower learning rate, bf16 or fp32",
             f->p.loss_scale, (long long)f->p.update, *watch.where ? watch.where : "no operation when a batch is run again");
}

/* --- epochs -------------------------------------------------------------------------------------------------------- */

static bool whole_step(void *user, const gr_batch *batch)
{
    return step(user, batch, true);
}

/* Whether an update is one pass over one piece, on a device that can repeat it, and nobody looks into it. */
static bool repeats(const fit_run *f, const gr_batch *piece)
{
    return f->ctx->device->replay && !f->o->no_graph && !f->o->noise_scale && !f->ctx->trace && gr_optimizer_passes(f->opt) == 1 &&
           piece->first && piece->last;
}

/* Every pass over every piece of the batch that begins with this piece; returns the samples in it. */
static int64_t train(fit_run *f, gr_batch *piece)
{
    int64_t samples = 0;
    bool good = true;
    for (int pass = 0; good && pass < gr_optimizer_passes(f->opt); pass++) {
        if (pass > 0) {
            gr_loader_again(f->train);
            good = gr_loader_next(f->train, piece);
        }
        for (bool last = false; good && !last;) {
            last = piece->last;
            samples += pass == 0 ? piece->samples : 0;
            good = repeats(f, piece) ? gr__step_graphs_run(&f->graphs, f->opt, piece, whole_step, f) : step(f, piece, pass == 0);
            gr_step_end(f->ctx);
            good = good && (last || gr_loader_next(f->train, piece));
        }
    }
    return samples;
}

static void update(fit_run *f, gr_batch *piece)
{
    double begin = seconds();
    if (f->stuck) {
        explain_overflow(f, piece);
        return;
    }
    if (has_schedule(f->o)) /* a constant rate is the caller's, who may set another between two updates */
        f->opt->lr = scheduled_lr(f, f->p.update);
    f->p.samples += train(f, piece);
    f->p.update++;
    f->p.batch_in_epoch++;
    f->p.fresh = false;
    if (reading_due(f))
        read_score(f);
    f->p.seconds += seconds() - begin;
    if (check_due(f))
        check_loss(f);
    if (gr_ok(f->ctx))
        report(f, false);
}

/* One epoch, or what is left of the updates. */
static void epoch(fit_run *f)
{
    const gr_batch_stage *stage = &f->stages[stage_at(f, f->p.epoch)];
    if (stage->epoch == f->p.epoch && stage->epoch > 0 && !open_train(f, stage))
        return;
    f->p.epoch++;
    f->p.batch_in_epoch = 0;
    f->epoch_begin = f->last;
    f->before_epoch = time_use(f);
    gr_batch piece;
    while (!done(f)) {
        double begin = seconds();
        if (!gr_loader_next(f->train, &piece))
            break;
        f->p.seconds += seconds() - begin;
        update(f, &piece);
    }
    bool whole = f->p.batch_in_epoch == f->p.batches;
    f->result.epochs += whole;
}

static void finish_epoch(fit_run *f)
{
    if (f->last.samples < f->p.samples) { /* stopped within the epoch */
        read_score(f);
        check_loss(f);
    }
    means(&f->epoch_begin, &f->last, &f->p.loss, &f->p.accuracy);
    f->p.fresh = true;
    f->result.train_loss = f->p.loss;
    f->result.train_accuracy = f->p.accuracy;
    f->p.noise = gr_noise_read(&f->noise);
    if (f->o->sharpness > 0)
        f->p.sharp = gr_measure_sharpness(f->net, f->set, &(gr_sharpness_options){.epsilon = f->o->sharpness,
                                                                                  .batch = gr_loader_micro_batch(f->train)});
    const double begin = seconds();
    f->p.val = f->result.val = gr__evaluator_run(&f->val);
    if (f->o->test_each_epoch || done(f))
        f->p.test = f->result.test = gr__evaluator_run(&f->test);
    f->evaluating += seconds() - begin;
    if (gr_ok(f->ctx))
        report(f, true);
}

static bool check(gr_context *ctx, const gr_fit_options *o)
{
    if (o->batch < 1 && o->n_stages == 0)
        return gr__fail(ctx, GR_USAGE, "gr_fit: a batch of %lld; it must be at least 1", (long long)o->batch);
    if (!(o->sharpness >= 0 && isfinite(o->sharpness)))
        return gr__fail(ctx, GR_USAGE, "gr_fit: sharpness with epsilon %g; it is positive, or 0 for none", o->sharpness);
    if (o->epochs < 0 || o->updates < 0 || (o->epochs == 0 && o->updates == 0))
        return gr__fail(ctx, GR_USAGE, "gr_fit: %lld epochs and %lld updates; one of them must be positive",
                        (long long)o->epochs, (long long)o->updates);
    const gr_schedule *s = &o->schedule;
    if ((unsigned)s->kind > GR_TRIANGULAR || s->every < 0 || !(s->gamma >= 0) || !(s->lr_min >= 0) || isinf(s->gamma) ||
        !(s->warm_up >= 0 && s->warm_up < 1e9))
        return gr__fail(ctx, GR_USAGE, "gr_fit: schedule %d, lr_min %g, every %lld, gamma %g, warm_up %g; all are at least 0",
                        (int)s->kind, s->lr_min, (long long)s->every, s->gamma, s->warm_up);
    return gr_ok(ctx);
}

static bool check_stages(gr_context *ctx, const gr_fit_options *o)
{
    bool good = o->n_stages == 0 || (o->epochs > 0 && o->updates == 0 && o->stages[0].epoch == 0);
    for (int i = 0; i < o->n_stages; i++)
        good = good && o->stages[i].batch >= 1 && (i == 0 || o->stages[i].epoch > o->stages[i - 1].epoch);
    return good || gr__fail(ctx, GR_USAGE, "gr_fit: stages have batches of at least 1, begin at epoch 0, each later than the one "
                                           "before, and the run ends by epochs");
}

static bool check_noise(const fit_run *f)
{
    for (int i = 0; i < gr_parameter_count(f->net); i++)
        if (f->net->parameters->plans[i].l2 > 0)
            return gr__fail(f->ctx, GR_USAGE, "gr_fit: the gradient of the penalty on %s is no mean over samples; the noise scale "
                                              "cannot be measured with it",
                            gr_parameter_name(f->net, i));
    if (f->ctx->scaled)
        return gr__fail(f->ctx, GR_USAGE, "gr_fit: the noise scale compares gradients before and after the loss scale of fp16 is taken "
                                          "out; measure it in bf16 or fp32");
    return gr_loader_micro_batch(f->train) < f->stages[0].batch ||
           gr__fail(f->ctx, GR_USAGE, "gr_fit: the noise scale compares a micro-batch with its batch; give a micro_batch below %lld",
                    (long long)f->stages[0].batch);
}

/* Plans, and opens what the first epoch needs; false: recorded. */
static bool open(fit_run *f, const gr_split *split)
{
    f->p = (gr_progress){.epochs = f->o->epochs, .loss = NAN, .accuracy = NAN, .loss_scale = gr_loss_scaling(f->ctx).scale, .noise = {NAN, NAN, NAN},
                          .sharp = {NAN, NAN, NAN}};
    f->whole = (gr_batch_stage){0, f->o->batch};
    f->stages = f->o->n_stages > 0 ? f->o->stages : &f->whole;
    f->n_stages = f->o->n_stages > 0 ? f->o->n_stages : 1;
    int64_t micro = f->o->micro_batch > 0 && f->o->micro_batch < f->stages[0].batch ? f->o->micro_batch : f->stages[0].batch;
    const gr_loader_options evaluation = {.batch = f->o->eval_batch > 0 ? f->o->eval_batch : micro, .workers = f->o->workers,
                                          .prefetch = f->o->prefetch};
    if (!gr__evaluator_open(&f->val, f->net, split->val, &evaluation) ||
        !gr__evaluator_open(&f->test, f->net, split->test, &evaluation) || !gr__score_open(f->ctx, &f->score, f->ctx->scaled ? 2 : 1) ||
        !plan(f))
        return false;
    if (f->o->noise_scale && !check_noise(f))
        return false;
    f->p.updates = f->o->updates > 0 ? f->o->updates : updates_of(f);
    return isfinite(scheduled_lr(f, f->p.updates - 1)) || /* the largest rate of a growing schedule */
           gr__fail(f->ctx, GR_USAGE, "gr_fit: gamma %g lets the learning rate grow beyond all numbers; it is usually below 1",
                    f->o->schedule.gamma);
}

/* Gives a matrix that would go with its evaluator to the context. */
static void keep(const fit_run *f, gr_metrics *m)
{
    size_t bytes = (size_t)m->classes * (size_t)m->classes * sizeof(double);
    double *copy = m->confusion ? gr__calloc(f->ctx, 1, bytes) : NULL;
    if (copy)
        memcpy(copy, m->confusion, bytes);
    m->confusion = copy && gr__own(f->ctx, copy, free) ? copy : NULL;
}

gr_fit_result gr_fit(gr_module *net, gr_optimizer *opt, gr_split split, const gr_fit_options *options)
{
    fit_run f = {.net = net, .opt = opt, .o = options};
    f.result.train_loss = f.result.train_accuracy = NAN;
    if (!net || !opt || !split.train || !options || !check(net->ctx, options) || !check_stages(net->ctx, options))
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
    if (has_schedule(options))
        opt->lr = f.lr;
    gr__step_graphs_close(&f.graphs, f.ctx);
    f.result.time = time_use(&f);
    f.result.workers = gr_loader_workers(f.train);
    f.result.prefetch = f.result.workers ? gr_loader_prefetch(f.train) : 0;
    gr_loader_close(f.train);
    keep(&f, &f.result.val);
    keep(&f, &f.result.test);
    gr__evaluator_close(&f.val);
    gr__evaluator_close(&f.test);
    gr__score_close(f.ctx, &f.score);
    f.result.updates = f.p.update;
    f.result.loss_scale = f.p.loss_scale;
    f.result.skipped = f.p.skipped;
    f.result.samples = f.p.samples;
    f.result.seconds = f.p.seconds;
    return f.result;
}
