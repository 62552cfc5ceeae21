/*
 * lookahead.h - look-ahead around an optimizer: slow copies of a model's weights and running statistics, to which they
 * return every so many updates; see gr_set_lookahead.
 */
#ifndef GRADUS_LOOKAHEAD_H
#define GRADUS_LOOKAHEAD_H

#include "optim/optimizer.h"

/* Whether the number of updates is known where it is wanted. False: recorded. */
bool gr__lookahead_check(const gr_optimizer *opt);

/* Makes the copies. False: recorded. */
bool gr__lookahead_prepare(gr_optimizer *opt);

/* Before update opt->updates + 1: what the copies begin as. False: recorded. */
bool gr__lookahead_begin(gr_optimizer *opt);

/* Behind update opt->updates and its statistics. False: recorded. */
bool gr__lookahead_end(gr_optimizer *opt);

#endif
