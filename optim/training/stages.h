/*
 * stages.h - batch sizes and learning rates of a run, by epoch and by update: what follows from the options alone.
 */
#ifndef GRADUS_STAGES_H
#define GRADUS_STAGES_H

#include "optim/optim.h"

typedef struct {
    const gr_fit_options *o;
    int64_t samples;      /* in the set to train on */
    double lr;            /* the optimizer's own, where the schedule starts */
    gr_batch_stage whole; /* the only stage, where the options name none */
} gr_stages;

int gr__stage_count(const gr_stages *s);
gr_batch_stage gr__stage(const gr_stages *s, int i);

/* Whether a stage begins with an epoch, from 0. */
bool gr__stage_begins(const gr_stages *s, int64_t epoch, gr_batch_stage *stage);

/* Updates of the whole run; 0: not known, it ends by seconds, or there are none in an epoch. */
int64_t gr__stages_updates(const gr_stages *s);

/* Whether the learning rate follows a schedule; if not, it is the caller's, who may set another between two updates. */
bool gr__stages_has_schedule(const gr_stages *s);

/*
 * Learning rate of an update, from 0, while p tells the batches of its epoch and the update's place there; epochs have
 * been finished. May be 0: a step schedule falls below the smallest number at last.
 */
double gr__stages_lr(const gr_stages *s, const gr_progress *p, int64_t epochs, int64_t update);

#endif
