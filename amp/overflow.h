/* overflow.h - where in a step infinities first appear. */
#ifndef GRADUS_OVERFLOW_H
#define GRADUS_OVERFLOW_H

#include "core/context.h"

/* Looks at every result that kernels write from now on, which is slow, until one is not finite. */
typedef struct {
    char where[192]; /* "the forward pass of conv2d (conv1)"; "" while all is finite */
} gr_overflow_watch;

void gr__overflow_watch_begin(gr_context *ctx, gr_overflow_watch *watch);
void gr__overflow_watch_end(gr_context *ctx);

#endif
