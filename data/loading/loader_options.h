/* loader_options.h - what a loader was asked for: what is left open, and what is refused. */
#ifndef GRADUS_LOADER_OPTIONS_H
#define GRADUS_LOADER_OPTIONS_H

#include "data/data.h"

/* With the usual values where nothing was asked for; no piece is larger than the largest shard. */
gr_loader_options gr__loader_resolve(const gr_loader_options *asked);

/* Whether a loader can be made so, of options that are resolved. False: recorded. */
bool gr__loader_check(const gr_dataset *set, const gr_loader_options *o);

#endif
