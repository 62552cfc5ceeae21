/* fit_run.h - a run of gr_fit under way, for the files that do its parts. */
#ifndef GRADUS_FIT_RUN_H
#define GRADUS_FIT_RUN_H

#include "optim/training/checkpoint_folder.h"
#include "optim/training/evaluate.h"
#include "optim/training/readings.h"
#include "optim/training/stages.h"
#include "optim/training/trainer.h"

typedef struct {
    gr_context *ctx;
    const gr_fit_options *o;
    gr_dataset *set; /* to train on */
    gr_stages stages;
    gr_trainer trainer;
    gr_readings readings;
    gr_evaluator val, test;
    gr_reading epoch_begin;
    double evaluating;        /* seconds */
    gr_time_use closed;       /* what loaders that are closed had measured */
    gr_time_use before_epoch; /* of the whole run, when the epoch began */
    gr_progress p;
    gr_fit_result result;
    int64_t within; /* 1: inside an epoch, up to the end of its evaluation */
    bool left;      /* the run ends inside an epoch, of which a checkpoint tells */
    gr_checkpoint_folder folder;
    double kept_at;      /* on the clock: when the last checkpoint was written */
    double best;         /* accuracy on the validation part at an epoch's end */
    int64_t best_update; /* 0: there was none */
} gr_fit_run;

/* Where the time of the run has gone so far; and between two such moments. */
gr_time_use gr__fit_time_use(const gr_fit_run *f);
gr_time_use gr__time_since(const gr_time_use *now, const gr_time_use *then);

/* Adds what a loader has measured; its waiting and copying were counted as computing (of training or evaluation). */
void gr__time_add_loader(gr_time_use *t, const gr_loader *loader, double *computing);

/* Plans, and opens what the first epoch needs. False: recorded. */
bool gr__fit_open(gr_fit_run *f, const gr_split *split);

/* The loader of a stage in place of the one before, from the epoch's batch skip on. False: recorded. */
bool gr__fit_open_loader(gr_fit_run *f, gr_batch_stage stage, int64_t skip);

#endif
