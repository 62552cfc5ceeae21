/*
 * time_use.h - where the time of a run goes, from what its loaders have measured and what the fit loop has.
 */
#ifndef GRADUS_TIME_USE_H
#define GRADUS_TIME_USE_H

#include "optim/optim.h"

/*
 * Adds what a loader has measured; evaluation: its waiting and copying were part of evaluation's time, not of
 * training's.
 */
void gr__time_add(gr_time_use *t, const gr_loader *loader, bool evaluation);

gr_time_use gr__time_since(const gr_time_use *now, const gr_time_use *then);

#endif
