/*
 * evaluate.h - evaluation in steps for callers that do it often: the loader and the sums are made, and their memory
 * planned, once.
 */
#ifndef GRADUS_EVALUATE_H
#define GRADUS_EVALUATE_H

#include "optim/training/loss.h"
#include "optim/training/score.h"

typedef struct {
    gr_module *net;
    gr_loss_rule loss;        /* zero, as it is opened: gr_loss */
    bool (*stop)(void *user); /* asked before every batch: true ends the pass; NULL, as it is opened: never */
    void *user;               /* for stop */
    gr_loader *loader;        /* NULL: there is no such part */
    gr_score score;           /* the loss, and the confusion matrix; made when the model's answer is first seen */
    int classes;
    bool stopped; /* the last pass was, by stop */
} gr_evaluator;

/*
 * An evaluator of set, in its own order whatever options say; batch is cut to the set's size. set may be NULL.
 * False: recorded.
 */
bool gr__evaluator_open(gr_evaluator *e, gr_module *net, gr_dataset *set, const gr_loader_options *options);
void gr__evaluator_close(gr_evaluator *e);

/* Dry-runs the model over full batches and the last one without a tape, reserving what they need. False: recorded. */
bool gr__evaluator_plan(gr_evaluator *e);

/* Means over one pass; samples 0 where there is no set. The matrix is e's and overwritten by the next pass. */
gr_metrics gr__evaluator_run(gr_evaluator *e);

/* Accuracy, precision, recall and F1 of m->samples samples from a confusion matrix[classes,classes], row: the label. */
void gr__confusion_metrics(const double *counts, int classes, gr_metrics *m);

#endif
