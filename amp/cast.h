/*
 * cast.h - conversion between floats and halves, for the files of amp/.
 */
#ifndef GRADUS_CAST_H
#define GRADUS_CAST_H

#include "core/context.h"

/* y = x, each element rounded to y's type. False: recorded. */
bool gr__cast(gr_context *ctx, gr_tensor *x, gr_tensor *y);

#endif
