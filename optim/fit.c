/* fit.c - the training loop: plan the memory, then epochs of updates, evaluation between them. */
#include <math.h>
#include <time.h>

#include "nn/module.h"
#include "optim/evaluate.h"
#include "optim/optimizer.h"

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    const gr_fit_options *o;
    gr_loader *train, *val, *test; /* val and test NULL where there is no such part */
    gr_progress p;
    gr_fit_result result;
    double lr;                    /* the optimizer's own, where the schedule starts */
    double loss_sum, correct_sum; /* over the epoch so far */
    int64_t epoch_samples;
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

/* --- memory plan --------------------------------------------------------------------------------------------------- */

/* Dry-runs one update with n rows. */
static bool plan_update(fit_run *f, int64_t n)
{
    gr_batch batch;
    gr_plan_begin(f->ctx);
    if (gr_loader_dry(f->train, n, &batch)) {
        gr_tensor *z = gr_forward(f->net, batch.x);
        gr_accuracy(z, batch.y, batch.weight);
        gr_minimize(f->opt, gr_add_penalty(f->net, gr_loss(z, &batch)));
    }
    return gr_plan_end(f->ctx) >= 0;
}

/*
 * Every shape that the run will meet, before the first update: full batches, the short last one, evaluation. Running out
 * of memory is known here or not at all.
 */
static bool plan(fit_run *f, int64_t size)
{
    int64_t batch = f->o->batch, tail = f->o->last == GR_KEEP ? size % batch : 0;
    return plan_update(f, batch) && (tail == 0 || plan_update(f, tail)) &&
           (!f->val || gr__plan_evaluation(f->net, f->val, gr_loader_batch(f->val))) &&
           (!f->test || gr__plan_evaluation(f->net, f->test, gr_loader_batch(f->test)));
}

/* --- training ------------------------------------------------------------------------------------------------------ */

/* Tells the caller; it may ask to stop. */
static void report(fit_run *f, bool epoch_end)
{
    f->p.epoch_end = epoch_end;
    if (f->o->report && !f->o->report(f->o->user, &f->p))
        f->result.stopped = true;
}

/* May be 0: a step schedule falls below the smallest number at last, and then nothing moves any more. */
static double scheduled_lr(const fit_run *f, int64_t update)
{
    return gr_scheduled_lr(&f->o->schedule, f->lr, update, f->p.updates, f->p.batches);
}

static void update(fit_run *f, const gr_batch *batch)
{
    double begin = seconds();
    gr_tensor *z = gr_forward(f->net, batch->x);
    gr_tensor *correct = gr_accuracy(z, batch->y, batch->weight);
    gr_tensor *loss = gr_add_penalty(f->net, gr_loss(z, batch));
    if (f->o->schedule.kind != GR_CONSTANT) /* a constant rate is the caller's, who may set another between two updates */
        f->opt->lr = scheduled_lr(f, f->p.update);
    gr_minimize(f->opt, loss);
    double l = gr_item(loss), c = gr_item(correct);
    gr_step_end(f->ctx);
    f->p.seconds += seconds() - begin;
    f->p.update++;
    f->p.batch_in_epoch++;
    f->p.samples += batch->samples;
    f->p.loss = l;
    f->p.accuracy = c / (double)batch->samples;
    f->loss_sum += l * (double)batch->samples;
    f->correct_sum += c;
    f->epoch_samples += batch->samples;
    if (gr_ok(f->ctx) && !isfinite(l))
        gr__fail(f->ctx, GR_NUMERIC, "the loss is %g at update %lld (epoch %lld); try a lower learning rate", l,
                 (long long)f->p.update, (long long)f->p.epoch);
    if (gr_ok(f->ctx))
        report(f, false);
}

/* One epoch, or what is left of the updates. */
static void epoch(fit_run *f)
{
    f->p.epoch++;
    f->p.batch_in_epoch = 0;
    f->loss_sum = f->correct_sum = 0;
    f->epoch_samples = 0;
    gr_batch batch;
    while (!done(f)) {
        double begin = seconds();
        if (!gr_loader_next(f->train, &batch))
            break;
        f->p.seconds += seconds() - begin;
        update(f, &batch);
    }
    bool whole = f->p.batch_in_epoch == f->p.batches;
    f->result.epochs += whole;
}

static void finish_epoch(fit_run *f)
{
    double n = f->epoch_samples > 0 ? (double)f->epoch_samples : NAN;
    f->p.loss = f->result.train_loss = f->loss_sum / n;
    f->p.accuracy = f->result.train_accuracy = f->correct_sum / n;
    f->p.val = f->result.val = gr__evaluate(f->net, f->val);
    if (f->o->test_each_epoch || done(f))
        f->p.test = f->result.test = gr__evaluate(f->net, f->test);
    if (gr_ok(f->ctx))
        report(f, true);
}

static bool check(gr_context *ctx, const gr_fit_options *o)
{
    if (o->batch < 1)
        return gr__fail(ctx, GR_USAGE, "gr_fit: a batch of %lld; it must be at least 1", (long long)o->batch);
    if (o->epochs < 0 || o->updates < 0 || (o->epochs == 0 && o->updates == 0))
        return gr__fail(ctx, GR_USAGE, "gr_fit: %lld epochs and %lld updates; one of them must be positive",
                        (long long)o->epochs, (long long)o->updates);
    const gr_schedule *s = &o->schedule;
    if ((unsigned)s->kind > GR_STEPS || s->every < 0 || !(s->gamma >= 0) || !(s->lr_min >= 0) || isinf(s->gamma))
        return gr__fail(ctx, GR_USAGE, "gr_fit: schedule %d, lr_min %g, every %lld, gamma %g; all are at least 0",
                        (int)s->kind, s->lr_min, (long long)s->every, s->gamma);
    return gr_ok(ctx);
}

/* Opens the loaders; false: recorded. */
static bool open(fit_run *f, const gr_split *split)
{
    int64_t eval_batch = f->o->eval_batch > 0 ? f->o->eval_batch : f->o->batch;
    f->train = gr_loader_open(split->train, &(gr_loader_options){.batch = f->o->batch, .shuffle = !f->o->no_shuffle,
                                                                  .last = f->o->last});
    f->val = gr__evaluation_loader(split->val, eval_batch);
    f->test = gr__evaluation_loader(split->test, eval_batch);
    if (!gr_ok(f->ctx))
        return false;
    f->p = (gr_progress){.epochs = f->o->epochs, .batches = gr_loader_batches(f->train)};
    f->p.updates = f->o->updates > 0 ? f->o->updates : f->o->epochs * f->p.batches;
    return isfinite(scheduled_lr(f, f->p.updates - 1)) || /* the largest rate of a growing schedule */
           gr__fail(f->ctx, GR_USAGE, "gr_fit: gamma %g lets the learning rate grow beyond all numbers; it is usually below 1",
                    f->o->schedule.gamma);
}

gr_fit_result gr_fit(gr_module *net, gr_optimizer *opt, gr_split split, const gr_fit_options *options)
{
    fit_run f = {.net = net, .opt = opt, .o = options};
    f.result.train_loss = f.result.train_accuracy = NAN;
    if (!net || !opt || !split.train || !options || !check(net->ctx, options))
        return f.result;
    f.ctx = net->ctx;
    f.lr = opt->lr;
    if (open(&f, &split) && plan(&f, gr_dataset_size(split.train)))
        while (!done(&f)) {
            epoch(&f);
            finish_epoch(&f);
        }
    if (options->schedule.kind != GR_CONSTANT)
        opt->lr = f.lr;
    gr_loader_close(f.train);
    gr_loader_close(f.val);
    gr_loader_close(f.test);
    f.result.updates = f.p.update;
    f.result.samples = f.p.samples;
    f.result.seconds = f.p.seconds;
    return f.result;
}
