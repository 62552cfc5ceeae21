/* fit_check.h - options of gr_fit that no run can have. */
#ifndef GRADUS_FIT_CHECK_H
#define GRADUS_FIT_CHECK_H

#include "optim/optim.h"

/* Whether there can be a run of these. False: recorded, unless there is no model to record it with. */
bool gr__fit_check(const gr_module *net, const gr_optimizer *opt, const gr_split *split, const gr_fit_options *options);

/* Whether the noise scale can be measured of this model with batches of this loader. False: recorded. */
bool gr__fit_check_noise(const gr_module *net, const gr_loader *loader);

#endif
