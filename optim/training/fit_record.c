/*
 * fit_record.c - see fit_record.h. An update is whole in it or not at all: a run stops behind the step of one, so that
 * no gradient of half a batch need be kept.
 *
 *   checkpoint/fit_counts, fit_numbers   where it stands, what it has measured: the lists below
 *   checkpoint/fit_sums                  of losses and right answers, as the device has them
 *   checkpoint/val_confusion, test_...   of the last evaluation
 */
#include "optim/training/fit_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/weights.h"

enum { MOST_COUNTS = 32, MOST_NUMBERS = 64 };

static int list_counts(gr_fit_run *f, int64_t *at[MOST_COUNTS])
{
    int64_t *const list[] = {&f->p.update,
                             &f->p.epoch,
                             &f->p.batch_in_epoch,
                             &f->p.samples,
                             &f->p.skipped,
                             &f->within,
                             &f->readings.skipped,
                             &f->readings.last.samples,
                             &f->epoch_begin.samples,
                             &f->best_update,
                             &f->result.epochs,
                             &f->result.val.samples,
                             &f->result.test.samples};
    memcpy(at, list, sizeof list);
    return (int)(sizeof list / sizeof *list);
}

static void add_reading(gr_reading *r, double **at[])
{
    *(*at)++ = &r->loss;
    *(*at)++ = &r->correct;
    *(*at)++ = &r->with_loss;
}

static void add_times(gr_time_use *t, double **at[])
{
    double *const list[] = {&t->wait, &t->copy, &t->compute, &t->evaluate, &t->making, &t->reading};
    for (int i = 0; i < 6; i++)
        *(*at)++ = list[i];
}

static void add_metrics(gr_metrics *m, double **at[])
{
    double *const list[] = {&m->loss, &m->accuracy, &m->precision, &m->recall, &m->f1};
    for (int i = 0; i < 5; i++)
        *(*at)++ = list[i];
}

/* Times, which no result depends on, are kept so that a row of a run that was stopped tells of all of it. */
static int list_numbers(gr_fit_run *f, double *list[MOST_NUMBERS])
{
    double **at = list;
    add_reading(&f->readings.last, &at);
    add_reading(&f->epoch_begin, &at);
    add_times(&f->closed, &at);
    add_times(&f->before_epoch, &at);
    add_metrics(&f->result.val, &at);
    add_metrics(&f->result.test, &at);
    double *const rest[] = {&f->p.seconds,
                            &f->evaluating,
                            &f->p.loss_scale,
                            &f->best,
                            &f->result.train_loss,
                            &f->result.train_accuracy,
                            &f->trainer.meter.noise.gradient_sum,
                            &f->trainer.meter.noise.noise_sum,
                            &f->trainer.meter.noise.weight};
    memcpy(at, rest, sizeof rest);
    return (int)(at - list) + (int)(sizeof rest / sizeof *rest);
}

static void add_setting(gr_fit_settings *s, const char *key, double value)
{
    char *text = s->number[s->numbers++];
    snprintf(text, sizeof s->number[0], "%.17g", value); /* of a whole number its digits */
    s->list[s->n++] = (gr_setting){key, text};
}

static void add_amounts(const gr_fit_run *f, gr_fit_settings *s)
{
    const gr_fit_options *o = f->o;
    add_setting(s, "number of samples", (double)f->stages.samples);
    add_setting(s, "batch size", (double)gr__stage(&f->stages, 0).batch);
    add_setting(s, "micro-batch size", (double)gr_loader_micro_batch(f->trainer.loader));
    add_setting(s, "number of shards", f->trainer.sum.shards);
    add_setting(s, "batch normalisation over all shards", o->synchronised);
    add_setting(s, "number of epochs", (double)o->epochs);
    add_setting(s, "number of updates", (double)o->updates);
    add_setting(s, "samples to train on", (double)o->samples);
    add_setting(s, "milliseconds to train", round(1e3 * o->seconds));
    add_setting(s, "policy of the last batch", (double)o->last);
}

static void add_course(const gr_fit_run *f, gr_fit_settings *s)
{
    const gr_fit_options *o = f->o;
    add_setting(s, "updates by all batch sizes", (double)gr__stages_updates(&f->stages));
    add_setting(s, "order of samples", (double)o->order);
    add_setting(s, "kind of schedule", (double)o->schedule.kind);
    add_setting(s, "least rate of the schedule", o->schedule.lr_min);
    add_setting(s, "epochs of the schedule's steps", (double)o->schedule.every);
    add_setting(s, "factor of the schedule's steps", o->schedule.gamma);
    add_setting(s, "epochs of warm-up", o->schedule.warm_up);
    add_setting(s, "share that warm-up begins with", o->schedule.warm_up_from);
    add_setting(s, "label smoothing", o->label_smoothing);
    s->list[s->n++] = (gr_setting){"parameters frozen later", o->freeze_later ? o->freeze_later : "none"};
    add_setting(s, "epochs before they are frozen", (double)o->freeze_epochs);
}

/* The program's own stand before those of the course: it has better words for these. */
bool gr__fit_settings_open(const gr_fit_run *f, gr_fit_settings *s)
{
    const gr_checkpoints none = {.folder = NULL}, *c = f->o->checkpoints ? f->o->checkpoints : &none;
    *s = (gr_fit_settings){.list = gr__calloc(f->ctx, (size_t)(GR__FIT_SETTINGS + c->n_settings), sizeof *s->list)};
    if (!s->list)
        return false;
    add_amounts(f, s);
    for (int i = 0; i < c->n_settings; i++)
        s->list[s->n++] = c->settings[i];
    add_course(f, s);
    return true;
}

static gr_saved_tensor tensor(const char *name, gr_type type, int64_t count, const void *data)
{
    gr_saved_tensor t = {.type = type, .ndim = 1, .shape = {count}, .data = data};
    snprintf(t.name, sizeof t.name, "%s%s", GR__BESIDE_WEIGHTS, name);
    return t;
}

static void add_confusion(gr_checkpoint *c, const char *name, const gr_metrics *m)
{
    if (m->confusion)
        c->more[c->n_more++] = tensor(name, GR_F64, (int64_t)m->classes * m->classes, m->confusion);
}

bool gr__fit_record_write(gr_fit_run *f, const char *path)
{
    const gr_checkpoints *o = f->o->checkpoints;
    int64_t *counts_at[MOST_COUNTS], counts[MOST_COUNTS];
    double *numbers_at[MOST_NUMBERS], numbers[MOST_NUMBERS];
    const gr_time_use closed = f->closed;
    gr_fit_settings settings;
    const char *note = o->note ? o->note(o->user) : "";
    if (!note)
        return gr__fail(f->ctx, GR_NO_MEMORY, "%s: the program had no memory for its note in this checkpoint", path);
    if (!gr__fit_settings_open(f, &settings))
        return false;
    f->closed = gr__fit_time_use(f); /* the loaders of whoever goes on begin with nothing measured */
    f->closed.compute -= f->p.seconds;
    f->closed.evaluate -= f->evaluating;
    const int n_counts = list_counts(f, counts_at), n_numbers = list_numbers(f, numbers_at);
    for (int i = 0; i < n_counts; i++)
        counts[i] = *counts_at[i];
    for (int i = 0; i < n_numbers; i++)
        numbers[i] = *numbers_at[i];
    f->closed = closed;
    gr_score *sums = &f->readings.score;
    gr_checkpoint c = {.settings = settings.list,
                       .n_settings = settings.n,
                       .note = note,
                       .more = {tensor("fit_counts", GR_I64, n_counts, counts),
                                tensor("fit_numbers", GR_F64, n_numbers, numbers),
                                tensor("fit_sums", gr_real(f->ctx), gr_count(sums->total), sums->raw)},
                       .n_more = 3};
    add_confusion(&c, "val_confusion", &f->result.val);
    add_confusion(&c, "test_confusion", &f->result.test);
    const bool written = gr__score_read(sums) && gr__checkpoint_write(f->trainer.opt, path, &c);
    free(settings.list);
    return written;
}

/* A matrix, which is the context's then. */
static void take_confusion(gr_fit_run *f, const gr_safetensors *file, const char *name, gr_metrics *m)
{
    const gr_saved_tensor *t = gr__safetensors_find(file, name);
    const int64_t cells = t && t->type == GR_F64 && t->ndim == 1 ? t->shape[0] : 0;
    double *copy = cells > 0 ? gr__calloc(f->ctx, (size_t)cells, sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, t->data, (size_t)cells * sizeof *copy);
    m->confusion = copy && gr__own(f->ctx, copy, free) ? copy : NULL;
    m->classes = (int)lround(sqrt((double)cells));
}

bool gr__fit_record_take(gr_fit_run *f, const char *path, const gr_safetensors *file)
{
    int64_t *counts_at[MOST_COUNTS], counts[MOST_COUNTS];
    double *numbers_at[MOST_NUMBERS], numbers[MOST_NUMBERS];
    gr_context *ctx = f->ctx;
    gr_tensor *sums = f->readings.score.total;
    const int n_counts = list_counts(f, counts_at), n_numbers = list_numbers(f, numbers_at);
    const bool whole =
        gr__checkpoint_copy(ctx, file, "fit_counts", GR_I64, n_counts, counts) &&
        gr__checkpoint_copy(ctx, file, "fit_numbers", GR_F64, n_numbers, numbers) &&
        gr__checkpoint_copy(ctx, file, "fit_sums", gr_type_of(sums), gr_count(sums), f->readings.score.raw);
    if (!whole)
        return gr__fail(ctx, GR_USAGE, "%s: a checkpoint, but of no run of gr_fit; load it by gr_checkpoint_load",
                        path);
    for (int i = 0; i < n_counts; i++)
        *counts_at[i] = counts[i];
    for (int i = 0; i < n_numbers; i++)
        *numbers_at[i] = numbers[i];
    take_confusion(f, file, GR__BESIDE_WEIGHTS "val_confusion", &f->result.val);
    take_confusion(f, file, GR__BESIDE_WEIGHTS "test_confusion", &f->result.test);
    if (f->within) /* its evaluation may have been left */
        f->result.epochs = f->p.epoch - 1;
    return gr_upload(sums, f->readings.score.raw);
}
