/*
 * fit.h - a run of gr_fit, shared by its parts: fit.c (epochs and updates), fit_check.c (what is refused),
 * fit_plan.c (batch sizes, learning rates, memory), fit_pass.c (what an update computes), fit_score.c (what the device
 * has summed).
 */
#ifndef GRADUS_FIT_H
#define GRADUS_FIT_H

#include "core/clock.h"
#include "nn/module.h"
#include "optim/optimizer.h"
#include "optim/training/evaluate.h"
#include "optim/training/score.h"
#include "optim/training/step_graph.h"
#include "optim/training/time_use.h"

/* Where the sums of training stood, and how many samples had gone into them. */
typedef struct {
    double loss, correct;
    double with_loss; /* samples in the first sum: those of updates whose loss is a number */
    int64_t samples;
} gr_fit_reading;

typedef struct {
    gr_context *ctx;
    gr_module *net;
    gr_optimizer *opt;
    const gr_fit_options *o;
    gr_dataset *set;      /* to train on */
    gr_batch_stage whole; /* the only stage, where the options name none */
    const gr_batch_stage *stages;
    int n_stages;
    gr_loader *train;
    gr_evaluator val, test;
    gr_score score; /* of training: the loss, right answers */
    gr_step_graphs graphs;
    gr_fit_reading epoch_begin, last;
    double last_seconds;               /* when last was read */
    double evaluating;                 /* seconds */
    gr_time_use earlier, before_epoch; /* what loaders that are closed had measured; all, when the epoch began */
    gr_progress p;
    gr_fit_result result;
    double lr; /* the optimizer's own, where the schedule starts */
    gr_noise noise;
    double first_norm, first_samples; /* of the first piece of the batch under way */
    int64_t skipped;                  /* updates that had been skipped before the run */
    bool stuck;                       /* the loss scale is: the next update is only looked at */
} gr_fit_run;

/* Whether a run can have these options. False: recorded. */
bool gr__fit_check(gr_context *ctx, const gr_fit_options *options);

/* The same of the noise scale, which depends on the model and on the loader that is open. */
bool gr__fit_check_noise(const gr_fit_run *f);

/* The stage that begins with an epoch, from 0; NULL: none does. */
const gr_batch_stage *gr__fit_stage_beginning(const gr_fit_run *f, int64_t epoch);

/* The loader of a stage in place of the one before. False: recorded. */
bool gr__fit_open_train(gr_fit_run *f, const gr_batch_stage *stage);

/* Updates of the whole run, by epochs. */
int64_t gr__fit_updates(const gr_fit_run *f);

/* Whether the learning rate follows a schedule; if not, it is the caller's, who may set another between two updates. */
bool gr__fit_has_schedule(const gr_fit_run *f);

/* Learning rate of an update, from 0. May be 0: a step schedule falls below the smallest number at last. */
double gr__fit_lr(const gr_fit_run *f, int64_t update);

/*
 * Every shape that the run will meet, before the first update: those of each batch size, then evaluation. Running out
 * of memory is known here or not at all. Leaves the first stage's loader open. False: recorded.
 */
bool gr__fit_plan(gr_fit_run *f);

/* One pass over a piece of a batch, and the optimizer's step behind the last one. False: recorded. */
bool gr__fit_step(gr_fit_run *f, const gr_batch *piece, bool first_pass);

/* Every pass over every piece of the batch that begins with this piece; returns the samples in it. */
int64_t gr__fit_train(gr_fit_run *f, gr_batch *piece);

/* Whether this update is one after which a loss gone bad ends the run, one after which the sums are read. */
bool gr__fit_check_due(const gr_fit_run *f);
bool gr__fit_reading_due(const gr_fit_run *f);

/* Means over the samples between two readings. */
void gr__fit_means(const gr_fit_reading *from, const gr_fit_reading *to, double *loss, double *accuracy);

/* Waits for the device and tells how training went since the last reading. */
void gr__fit_read_score(gr_fit_run *f);

/* Where the sum that was read is not finite the run is over: a sum never becomes finite again. */
void gr__fit_check_loss(gr_fit_run *f);

/* The scale is stuck: runs a batch to find where the infinities come from, and ends the run. */
void gr__fit_explain_overflow(gr_fit_run *f, const gr_batch *batch);

#endif
