/*
 * evaluate.h - evaluation in two steps for callers that do it often: the loader is opened (and its memory planned) once.
 */
#ifndef GRADUS_EVALUATE_H
#define GRADUS_EVALUATE_H

#include "optim/optim.h"

/* A loader over set in its own order; batch is cut to the set's size. NULL for an absent set, or recorded. */
gr_loader *gr__evaluation_loader(gr_dataset *set, int64_t batch);

/* Dry-runs the model over one batch of n rows without a tape, reserving what it needs. False: recorded. */
bool gr__plan_evaluation(gr_module *net, gr_loader *loader, int64_t n);

/* Means over one pass through the loader; samples 0 where it is NULL. */
gr_metrics gr__evaluate(gr_module *net, gr_loader *loader);

#endif
